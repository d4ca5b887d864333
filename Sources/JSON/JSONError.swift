/// Why a text is not accepted: this module accepts RFC 8259, except for texts that two parsers could read differently.
package enum JSONError: Error, Equatable, Sendable {
    /// Not JSON, or followed by something else.
    case syntax
    /// Not UTF-8, a lone surrogate, or U+0000.
    case encoding
    /// Two members of one object with the same name, however it is escaped.
    case duplicateMember
    /// Arrays and objects nested deeper than ``JSONLimits/maximumDepth``.
    case tooDeep
    /// A real number beyond the range of a double.
    case numberOutOfRange
    /// JSON, but not an object.
    case notAnObject
}

package enum JSONLimits {
    /// The maximum nesting depth of arrays and objects, including the outermost.
    package static let maximumDepth = 64
}
