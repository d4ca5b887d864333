private import Bytes
internal import IDToken
private import JOSE
internal import Verification

/// Reads `resources`, after the providers that they name.
enum ResourceReader {
    static let member = Member<Settings>(
        [
            SettingDescription(
                name: "resources", expected: "a list of mappings",
                form: .list(of: .section(descriptions), isNeverEmpty: true),
                help:
                    "The [resources](access-tokens.md#resources): APIs and MCP servers, with the metadata and the challenges by which their clients find out where to get a token."
            )
        ]
    ) { top, settings in
        let providers = ProvidersByID(settings)
        let read = top.mappings("resources", expected: "a mapping with id, resource and providers") { [settings] in
            Self.read($0, settings, providers)
        }
        guard let read else { return }
        if read.isEmpty { top.refuse("resources", "resources must have at least one resource; remove it for none") }
        checkDiffer(read, top)
        settings.resources = read
    }.comparing(\.resources)

    private static let id = Setting(
        "id", .pathName, isRequired: true, "The resource's name in requests and in the path of its metadata.")
    private static let resource = Setting(
        "resource", url, isRequired: true,
        "The resource's URL as its clients use it (RFC 9728). Also the audience of its tokens, unless `audiences` says otherwise; with an empty path, with and without a slash at the end."
    )
    private static let providers = Setting(
        "providers", listOf: .text, refusesEmpty: "must name at least one provider",
        "The IDs of the providers whose access tokens are accepted. Each has `tokens: access`, or one of them `tokens: opaque`."
    )
    private static let audiences = Setting(
        "audiences", listOf: .text, refusesEmpty: "must name at least one", orWord: "none",
        defaultDescription: "the resource's URL",
        "The audiences, one of which a token must have, instead of those of its provider. `none` is for tokens without `aud`, and requires `authorized_parties` or, for opaque tokens, `required_scopes` at each provider."
    )
    private static let authorizationServers = Setting(
        "authorization_servers", listOf: url, refusesEmpty: "must name at least one",
        defaultDescription: "the providers' issuers",
        "The issuers that clients may ask for a token. Required if a provider's issuer is no `https` URL, has a claim in braces or aliases, or if it has a list of issuers."
    )
    private static let scopes = Setting(
        "scopes", listOf: .scope, refusesEmpty: "must name at least one scope; remove it for none",
        defaultDescription: "none",
        "The scopes in a challenge, if the request needs no others. Tokens are not checked for them.")
    private static let metadata = SettingDescription(
        name: "metadata", expected: "a mapping of names to strings, true, false, or lists of strings",
        form: .mapping(of: .either(.either(.text(), .boolean), .list(of: .text()))),
        help:
            "Other members of the metadata, such as `resource_name`, `resource_documentation` or `scopes_supported` (default: `scopes`). Nothing that Assay writes itself, no `jwks_uri`, no `signed_metadata`."
    )

    private static let descriptions =
        [
            id.description, resource.description, providers.description, audiences.description,
            authorizationServers.description, scopes.description, metadata,
        ] + ProofUseReader.descriptions

    private static var url: ValueType<String> {
        .text(
            "an https URL, or an http URL of this machine, without user name, query and fragment",
            pattern: "^https?://"
        ) { ResourceAddress($0) != nil }
    }

    /// - Returns: `nil` if an error was reported.
    private static func read(_ element: Section, _ settings: Settings, _ configured: ProvidersByID) -> Resource? {
        let id = id.read(element)
        let address = resource.read(element).flatMap(ResourceAddress.init)
        let names = providers.read(element)
        element.require(
            [Self.id.name, resource.name, providers.name], "a resource needs id, resource and providers")
        let members = names.map { Self.members(named: $0, element, configured) } ?? []
        checkOpaque(members, element)
        let audiences = readAudiences(element, members)
        let servers = readServers(element, members)
        let scopes = scopes.read(element) ?? []
        let metadata = readMetadata(element)
        if settings.dpop == nil, !element.reading.isFaulty(["dpop"]) {
            ProofUseReader.refuse(in: element, "which are not checked; add dpop: {}")
        }
        let proofUse = ProofUseReader.read(element)
        element.finish()
        guard let id, let address, let names, let servers else { return nil }
        var resource = Resource(
            id: id, address: address, audiences: audiences, providers: names, authorizationServers: servers,
            scopes: scopes, metadata: metadata)
        resource.proofUse = proofUse
        return resource
    }

    private static func members(
        named names: [String], _ element: Section, _ configured: ProvidersByID
    ) -> [ProviderSettings] {
        names.compactMap { name in
            guard let provider = configured.provider(name, namedBy: providers.name, element) else { return nil }
            element.refuse(
                providers.name, if: provider.accessTokens == nil,
                "\(name) verifies ID Tokens, which are for clients and not for resources; name an entry with tokens: access or tokens: opaque"
            )
            return provider
        }
    }

    /// An opaque token does not say whose it is.
    private static func checkOpaque(_ members: [ProviderSettings], _ element: Section) {
        let opaque = members.filter { $0.introspection != nil }.map(\.policy.id)
        element.refuse(
            providers.name, if: opaque.count > 1,
            "\(opaque[0]) and \(opaque[1]) both have opaque tokens, which don't say whose they are; keep one")
    }

    /// - Returns: `nil`: the resource's own.
    private static func readAudiences(_ element: Section, _ members: [ProviderSettings]) -> [String]? {
        guard element.isWord("none", audiences.name) else { return audiences.read(element) }
        let isTied = { (provider: ProviderSettings) in
            !provider.policy.authorizedParties.isEmpty || provider.accessTokens?.hasKeysOfOneClient == true
                || provider.accessTokens?.requiredScopes.isEmpty == false
        }
        if let provider = members.first(where: { !isTied($0) }) {
            element.refuse(
                audiences.name,
                "audiences: none needs authorized_parties, or required_scopes for opaque tokens, at the provider \(provider.policy.id)"
            )
        }
        return []
    }

    /// - Returns: `nil` if an error was reported.
    private static func readServers(_ element: Section, _ members: [ProviderSettings]) -> [String]? {
        if let servers = authorizationServers.read(element) { return servers }
        guard !element.isFaulty(authorizationServers.name) else { return nil }
        for provider in members where !provider.policy.hasAddressAsIssuer {
            element.refuseMissing(
                authorizationServers.name,
                "a resource needs authorization_servers, because the issuer of \(provider.policy.id) is not one https URL"
            )
            return nil
        }
        return members.map(\.policy.issuer)
    }

    private static func readMetadata(_ element: Section) -> [String: JSONTree] {
        var members: [String: JSONTree] = [:]
        for member in element.freeMembers(metadata.name) {
            if ServedResource.reservedMembers.contains(member.name) {
                let reason =
                    ["jwks_uri", "signed_metadata"].contains(member.name)
                    ? "Assay signs nothing for a resource" : "Assay writes it itself"
                element.refuse(metadata.name, "\(member.name) can't be set, because \(reason); remove it")
            } else if let value = JSONTree(metadata: member.value) {
                members[member.name] = value
            } else {
                element.refuse(
                    metadata.name,
                    "\(member.name) must be a string, true, false, or a list of strings that is not empty")
            }
        }
        return members
    }

    /// Clients find a resource by its address, and callers by its ID.
    private static func checkDiffer(_ read: [Resource], _ section: Section) {
        var ids: Set<String> = []
        var addresses: [String: String] = [:]
        for resource in read {
            if !ids.insert(resource.id).inserted {
                section.refuse("resources", "the resource \(resource.id) is listed twice; rename one")
            }
            if let other = addresses.updateValue(resource.id, forKey: resource.address.metadataURL) {
                section.refuse(
                    "resources",
                    "the resources \(other) and \(resource.id) have the same address, so their metadata would be at the same place; keep one"
                )
            }
        }
    }
}

/// The providers, for resources and policies, which name some by their IDs.
struct ProvidersByID {
    private let providers: [ExactString: ProviderSettings]

    init(_ settings: Settings) {
        providers = Dictionary(
            settings.providers.map { (ExactString($0.policy.id), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// - Parameter setting: the member of `element` that names the provider.
    /// - Returns: `nil` if there is none, which is reported.
    func provider(_ id: String, namedBy setting: String, _ element: Section) -> ProviderSettings? {
        let found = providers[ExactString(id)]
        if found == nil, !element.reading.isFaulty(["providers"]) {
            element.refuse(setting, "no provider has the id \(id); correct it, or add the provider")
        }
        return found
    }
}

extension ValueType where Value == String {
    /// What may stand in a path.
    static var pathName: Self {
        .text("1 to 64 letters, digits and hyphens", pattern: "^[A-Za-z0-9-]{1,64}$") { text in
            (1...64).contains(text.utf8.count)
                && text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
        }
    }
}

extension ProviderPolicy {
    /// Whether clients can use the issuer as the address of an authorization server.
    fileprivate var hasAddressAsIssuer: Bool {
        !hasTemplateIssuer && issuerAliases.isEmpty && issuer.hasPrefix("https://") && ResourceAddress(issuer) != nil
    }
}

extension JSONTree {
    /// A member of a resource's metadata; `nil` if it can't be one.
    ///
    /// - Source: RFC 9728, section 2: empty lists are omitted.
    fileprivate init?(metadata node: YAMLNode) {
        if let elements = node.sequence {
            let texts = elements.compactMap { $0.isNull ? nil : $0.scalar?.string }
            guard !texts.isEmpty, texts.count == elements.count else { return nil }
            self = .array(texts.map(JSONTree.string))
        } else if let scalar = node.scalar, !node.isNull {
            let isBoolean = scalar.isPlain && ["true", "false"].contains(scalar.string)
            self = isBoolean ? .bool(scalar.string == "true") : .string(scalar.string)
        } else {
            return nil
        }
    }
}
