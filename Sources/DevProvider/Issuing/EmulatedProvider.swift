internal import IDToken
private import Bytes
internal import OpenSSL

/// A development provider: its settings and its state.
struct EmulatedProvider {
    let settings: DevProviderSettings
    let dialect: Dialect
    /// The base URL of its endpoints.
    let base: String
    var keys: ProviderKeys
    var grants = IssuedGrants()
    var faults = Faults()

    /// - Throws: ``OpenSSLError``.
    init(_ settings: DevProviderSettings, origin: String, key: SigningKey) throws {
        self.settings = settings
        dialect = Dialect.of(settings.preset)
        base = "\(origin)/\(settings.id)"
        keys = try ProviderKeys(key, settings.algorithm)
    }

    var id: String { settings.id }
    var policy: ProviderPolicy { settings.policy }

    /// The client IDs.
    var audiences: [String] { policy.audiences.isEmpty ? policy.authorizedParties : policy.audiences }

    /// The client with this ID; `nil` if the settings don't list it.
    func client(_ id: String) -> DevClient? {
        if let client = settings.clients.first(where: { $0.id == id }) { return client }
        return audiences.contains(id) ? DevClient(id: id, redirectURIs: [], authentication: .any) : nil
    }

    /// A hash of the provider's and the person's IDs, as 64 hexadecimal digits.
    ///
    /// - Throws: ``OpenSSLError``.
    func digest(of person: Person) throws -> String {
        let name = Array("\(id)\0\(person.id)".utf8)
        let hash = try DigestContext().digest(name.span, with: .sha256)
        return String(hexadecimal: hash.span)
    }

    func subject(of person: Person) throws -> String { dialect.subject.subject(try digest(of: person)) }

    /// The tenant of a person: their own, or else one that the settings accept.
    func tenant(of person: Person) -> String {
        if let tenant = person.tenant { return tenant }
        if case .only(let tenants) = policy.tenants, let first = tenants.first { return first }
        return Dialect.developmentTenant
    }

    /// The issuer of a person's tokens.
    func issuer(of person: Person) -> String {
        guard let template = policy.issuerTemplates?.first else { return policy.issuer }
        return template.issuer(ofTenant: tenant(of: person))
    }
}
