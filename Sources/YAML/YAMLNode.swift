/// A value of a YAML document with its position.
package struct YAMLNode: Sendable {
    package let content: Content
    /// The line on which it starts, from 1. For an empty value, the line of its key or hyphen.
    package let line: Int

    package enum Content: Sendable {
        case scalar(Scalar)
        case sequence([YAMLNode])
        case mapping([YAMLMember])
    }

    package struct Scalar: Sendable, Equatable {
        package let string: String
        /// Whether it is written without quotation marks.
        package let isPlain: Bool
    }

    /// The node for an absent value.
    static func null(line: Int) -> YAMLNode {
        YAMLNode(content: .scalar(Scalar(string: "", isPlain: true)), line: line)
    }

    package var scalar: Scalar? {
        if case .scalar(let scalar) = content { scalar } else { nil }
    }

    package var sequence: [YAMLNode]? {
        if case .sequence(let elements) = content { elements } else { nil }
    }

    package var mapping: [YAMLMember]? {
        if case .mapping(let members) = content { members } else { nil }
    }

    /// The value of a key of a mapping.
    package subscript(name: String) -> YAMLNode? { mapping?.first { $0.name == name }?.value }

    /// Whether it is `null` or empty (YAML 1.2, section 10.3.2).
    package var isNull: Bool {
        guard let scalar, scalar.isPlain else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }
}

/// A key with its value.
package struct YAMLMember: Sendable {
    package let name: String
    /// The line of the key.
    package let line: Int
    package let value: YAMLNode
}
