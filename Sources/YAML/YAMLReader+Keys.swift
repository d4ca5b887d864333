extension YAMLReader {
    struct Key {
        let name: String
        let line: Int
    }

    /// The key that a node represents.
    ///
    /// - Parameter start: where the node started; the reader is at the colon.
    func key(_ node: YAMLNode, from start: Int) throws(YAMLError) -> Key {
        guard let name = node.scalar?.string else {
            throw YAMLError(line: node.line, reason: .unsupported(.complexKey))
        }
        // YAML 1.2, section 7.4.2 limits it in characters; this limit is in bytes.
        guard position - start <= Self.maximumKeyLength else { throw error(.longKey) }
        return Key(name: name, line: node.line)
    }

    /// Collects the members of a mapping.
    struct MappingBuilder {
        private(set) var members: [YAMLMember] = []
        private var names: Set<String> = []

        mutating func add(_ key: Key, _ value: YAMLNode) throws(YAMLError) {
            guard names.insert(key.name).inserted else {
                throw YAMLError(line: key.line, reason: .duplicateKey(key.name))
            }
            members.append(YAMLMember(name: key.name, line: key.line, value: value))
        }
    }
}
