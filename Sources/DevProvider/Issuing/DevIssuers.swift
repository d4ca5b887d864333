internal import IDToken
internal import JOSE

/// The issuers of an entry that has many, as a product has whose customers bring their own providers.
///
/// Each is a provider of its own: `ENTRY/1`, `ENTRY/2` and so on, with the client `client-1`, `client-2` and so on. It is
/// generated at the first request that is about it, so that any number of them takes no time at the start.
package struct DevIssuers: Sendable {
    package let count: Int
    /// Whether requests to the service name the connection, because the entry has no list of its issuers.
    let isOpen: Bool
    /// How requests may say that their client authenticates; `nil` if they name none.
    let authentication: String?

    /// An issuer in use takes about 10 KB.
    package static let maximum = 1_000_000
    /// The number of issuers if nobody says how many.
    package static let usualCount = 10

    package init(count: Int, isOpen: Bool, authentication: String? = nil) {
        self.count = count
        self.isOpen = isOpen
        self.authentication = authentication
    }

    /// The number of one of the issuers, as its URL has it: decimal digits without leading zeros; `nil` if there is none.
    func number(_ text: some StringProtocol) -> Int? {
        guard let number = Int(text), String(number) == text, (1...max(count, 1)).contains(number) else { return nil }
        return number
    }
}

extension DevProviderSettings {
    /// The settings of one of the entry's issuers.
    ///
    /// - Parameter number: its number, or a placeholder for it.
    private func member(_ number: String) -> DevProviderSettings {
        var member = self
        member.number = number
        member.policy.id = "\(id)/\(number)"
        member.policy.issuer = "\(policy.issuer)/\(number)"
        member.policy.audiences = ["client-\(number)"]
        member.clients = clients.map { $0.named("client-\(number)") }
        return member
    }

    func issuer(_ number: Int) -> DevProviderSettings { member(String(number)) }

    /// The settings as people and tools are shown them: `{n}` stands for the number of one of many issuers.
    package var shown: DevProviderSettings { issuers == nil ? self : member("{n}") }

    /// The path of a provider to show: the first of many issuers.
    package var page: String { issuers == nil ? id : issuer(1).id }

    /// The members that name the provider in a request to the service. The connection is the issuer's number.
    var requestMembers: [String: JSONTree] {
        guard let issuers, let number else { return ["provider": .string(id)] }
        let entry = String(id.dropLast(number.count + 1))
        guard issuers.isOpen else { return ["provider": .string(entry)] }
        return [
            "provider": .string(entry), "connection": .string(number), "issuer": .string(policy.issuer),
            "audience": .string(policy.audiences.first ?? ""),
        ]
    }

    /// The members of a finish that a sign-in of a connection needs. Any secret is accepted.
    var finishMembers: [String: JSONTree] {
        guard let number, let authentication = issuers?.authentication else { return [:] }
        var client: [String: JSONTree] = ["auth": .string(authentication)]
        if authentication.hasPrefix("client_secret") { client["secret"] = .string("development") }
        return ["connection": .string(number), "client": .object(client)]
    }
}
