/// A value of a YAML document, and where it stands.
package struct YAMLNode: Sendable {
    package let content: Content
    /// The line on which it begins, counted from 1; that of its key or hyphen where there is nothing behind them.
    package let line: Int

    package enum Content: Sendable {
        case scalar(Scalar)
        case sequence([YAMLNode])
        case mapping([YAMLMember])
    }

    package struct Scalar: Sendable, Equatable {
        package let string: String
        /// Whether it is written without quotes.
        package let isPlain: Bool
    }

    /// What stands for a value that is not there.
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

    /// The value behind a key of a mapping.
    package subscript(name: String) -> YAMLNode? { mapping?.first { $0.name == name }?.value }

    /// Whether it is `null`, or nothing at all (YAML 1.2, section 10.3.2).
    package var isNull: Bool {
        guard let scalar, scalar.isPlain else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }
}

/// A key and its value.
package struct YAMLMember: Sendable {
    package let name: String
    /// Where the key stands.
    package let line: Int
    package let value: YAMLNode
}
