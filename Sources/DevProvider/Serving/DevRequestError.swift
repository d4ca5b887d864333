internal import JSON

/// Why a script's request can't be used, and what is expected instead.
struct DevRequestError: Error {
    let text: String

    init(_ text: String) { self.text = text }
}

extension [String: JSONTree] {
    /// A member that must be a string if it is there; `null` counts as absent.
    ///
    /// - Throws: ``DevRequestError``.
    func text(_ name: String) throws -> String? { try value(name, "a string", \.string) }

    func flag(_ name: String) throws -> Bool? { try value(name, "true or false", \.bool) }

    func number(_ name: String) throws -> Int64? { try value(name, "an integer", \.integer) }

    func object(_ name: String) throws -> [String: JSONTree]? { try value(name, "an object", \.object) }

    private func value<Read>(_ name: String, _ expected: String, _ read: (JSONTree) -> Read?) throws -> Read? {
        guard let tree = self[name], tree != .null else { return nil }
        guard let value = read(tree) else { throw DevRequestError("\(name) must be \(expected)") }
        return value
    }

    /// - Throws: ``DevRequestError`` if there is a member with another name.
    func checkNames(_ names: [String]) throws {
        guard let unknown = keys.sorted().first(where: { !names.contains($0) }) else { return }
        throw DevRequestError("unknown member \(unknown); known members are \(names.joined(separator: ", "))")
    }
}
