internal import JOSE

/// A provider's discovery document, as far as an inspection asks for it.
package struct InspectedDocument: Sendable {
    package let endpoints: DiscoveredEndpoints
    private let members: [String: JSONTree]

    init(_ document: [UInt8], _ endpoints: DiscoveredEndpoints) {
        self.endpoints = endpoints
        members = (try? JSONTree(readingObject: document))?.object ?? [:]
    }

    /// The strings of a list; `nil` if the document has no such list.
    package func list(_ name: String) -> [String]? { members[name]?.array?.compactMap(\.string) }

    /// Whether a member is `true`.
    package func isTrue(_ name: String) -> Bool { members[name] == .bool(true) }
}
