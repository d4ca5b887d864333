/// Why a text is not the JSON that this room accepts: RFC 8259, less what two readers could understand differently.
package enum JSONError: Error, Equatable, Sendable {
    /// No JSON text, or something after it.
    case syntax
    /// Not UTF-8, a lone surrogate, or U+0000.
    case encoding
    /// Two members of one object with the same name, whichever way it is escaped.
    case duplicateMember
    /// Arrays and objects nested deeper than ``JSONLimits/maximumDepth``.
    case tooDeep
    /// A real number beyond the range of a double.
    case numberOutOfRange
    /// JSON, but not an object.
    case notAnObject
}

package enum JSONLimits {
    /// Arrays and objects within each other, the outermost counted.
    package static let maximumDepth = 64
}
