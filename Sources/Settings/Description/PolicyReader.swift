private import Bytes
internal import IDToken
internal import Verification

/// Reads one of `forward_auth.policies`.
enum PolicyReader {
    private static let id = Setting(
        "id", .pathName, isRequired: true, "The policy's name in the path, the log and the metrics.")
    private static let providers = Setting(
        "providers", listOf: .text, refusesEmpty: "must name at least one provider",
        defaultDescription: "required, unless `resource` is set: then the resource's",
        "The IDs of the providers whose tokens are accepted: access tokens or ID Tokens. No two may have the same issuer. The nonces of ID Tokens are not checked."
    )
    private static let resource = Setting(
        "resource", .text, defaultDescription: "none",
        "The ID of one of `resources`. Tokens must then be for it, and a refused request gets its [challenge](access-tokens.md#resources)."
    )
    private static let requiresKey = Setting(
        "require_key", .boolean, defaultDescription: "`true`",
        "Whether the gateway must send one of `api_keys` in `X-Assay-Key`. If not, make sure that only the gateway can reach the listener, through network rules or client certificates."
    )
    private static let stripsToken = Setting(
        "strip_token", .boolean, defaultDescription: "`false`",
        "Tells Envoy to remove the token's header before it forwards the request. Not allowed with a cookie, because all other cookies would be removed too."
    )
    private static let headers = SettingDescription(
        name: "headers", expected: "a mapping of header names to values",
        form: .mapping(of: .words(IdentityValue.allCases.map(\.rawValue))),
        help:
            "The response's header fields, which the gateway forwards to the backend. All of them are always sent, empty if the token says nothing.",
        defaultDescription:
            "`{ \(IdentityHeader.usual.map { "\($0.name): \($0.value.rawValue)" }.joined(separator: ", ")) }`")

    static let descriptions =
        [
            id.description, providers.description, resource.description, TokenSourceReader.setting,
            RequirementReader.description, headers, requiresKey.description, stripsToken.description,
            RequestURLReader.description, CertificateFieldReader.description,
        ] + ProofUseReader.descriptions

    /// - Returns: `nil` if an error was reported.
    static func read(_ element: Section, _ settings: Settings, _ configured: ProvidersByID) -> ForwardAuthPolicy? {
        let id = id.read(element)
        let resource = readResource(element, settings)
        let names = providers.read(element) ?? (element.isFaulty(providers.name) ? nil : resource?.providers)
        if id == nil { element.refuseMissing("id", "a policy needs id and providers") }
        element.refuseMissing(
            "providers", if: names == nil && !element.isFaulty(Self.resource.name), "a policy needs id and providers")
        let members = names.map { Self.providers(named: $0, element, configured) } ?? []
        if let resource, let other = names?.first(where: { !resource.providers.containsExactly($0) }) {
            element.refuse(
                providers.name,
                "\(other) is not among the providers of the resource \(resource.id); add it there, or remove it")
        }
        let sources = TokenSourceReader.read(element)
        let requirements = RequirementReader.read(element, members)
        let headers = readHeaders(element)
        var policy = ForwardAuthPolicy(id: id ?? "", providers: names ?? [], requirements: requirements)
        policy.resource = resource?.id
        if let sources { policy.sources = sources }
        if let headers { policy.headers = headers }
        policy.requiresKey = requiresKey.read(element) ?? policy.requiresKey
        policy.stripsToken = stripsToken.read(element) ?? policy.stripsToken
        policy.requestURL = RequestURLReader.read(element, settings)
        policy.clientCertificate = CertificateFieldReader.read(element)
        policy.proofUse = ProofUseReader.read(element)
        if policy.proofUse != ProofUse(), policy.requestURL == nil, !element.isFaulty(RequestURLReader.description.name)
        {
            ProofUseReader.refuse(in: element, "which a policy takes only with request_url; add it")
        }
        if let resource { policy.proofUse = policy.proofUse.completed(by: resource.proofUse) }
        checkIssuers(members, policy, element)
        checkDomains(members, policy, element)
        element.refuse(
            stripsToken.name, if: policy.stripsToken && !policy.sources.allSatisfy(\.isHeader),
            "strip_token would remove all cookies; remove it, or the cookie under token")
        element.finish()
        return id == nil || names == nil ? nil : policy
    }

    private static func readResource(_ element: Section, _ settings: Settings) -> Resource? {
        guard let name = resource.read(element) else { return nil }
        let found = settings.resources.first { $0.id.isExactly(name) }
        if found == nil, !element.reading.isFaulty(["resources"]) {
            element.refuse(resource.name, "no resource has the id \(name); correct it, or add it to resources")
        }
        return found
    }

    private static func providers(
        named names: [String], _ element: Section, _ configured: ProvidersByID
    ) -> [ProviderSettings] {
        var found: [ProviderSettings] = []
        for name in names {
            guard let provider = configured.provider(name, namedBy: providers.name, element) else { continue }
            if provider.issuers?.isOpen == true {
                element.refuse(
                    providers.name,
                    "\(name) has issuers: any, but a gateway names no connection; remove it, or list the issuers")
                continue
            }
            let isOpaque = provider.introspection != nil
            if isOpaque, let other = found.first(where: { $0.introspection != nil }) {
                element.refuse(
                    providers.name,
                    "\(other.policy.id) and \(name) both have opaque tokens, which don't say whose they are; keep one")
            }
            // JWTs of an issuer with both kinds go to the entry that verifies them with keys.
            let ofSameForm = found.filter { ($0.introspection != nil) == isOpaque }
            if let other = ofSameForm.first(where: { $0.sharesIssuer(with: provider) }) {
                element.refuse(
                    providers.name,
                    "\(other.policy.id) and \(name) have the same issuer, so a token could belong to either; keep one")
            }
            found.append(provider)
        }
        return found
    }

    private static func readHeaders(_ element: Section) -> [IdentityHeader]? {
        guard element.mentions(headers.name) else { return nil }
        let read = element.namedTexts(headers.name).compactMap { name, texts -> IdentityHeader? in
            if let refusal = IdentityHeader.refusal(ofName: name) {
                element.refuse(headers.name, refusal)
                return nil
            }
            guard texts.count == 1, let value = IdentityValue(rawValue: texts[0]) else {
                let words = IdentityValue.allCases.map(\.rawValue)
                let meant = texts.first.flatMap { Suggestion.nearest(to: $0, among: words) }
                let hint = meant.map { "; did you mean \($0)?" } ?? ": \(words.joined(separator: ", "))"
                element.refuse(headers.name, "\(name) must be one of the values that a header can have\(hint)")
                return nil
            }
            return IdentityHeader(name, value)
        }
        if let (one, other) = IdentityHeader.twins(in: read) {
            element.refuse(headers.name, "many servers can't tell \(one) from \(other); rename one")
        }
        return read
    }

    /// An issuer of a list may only speak for the domains that its line names. What depends on addresses would never
    /// hold for the others.
    private static func checkDomains(_ members: [ProviderSettings], _ policy: ForwardAuthPolicy, _ element: Section) {
        let usesAddresses =
            policy.requirements.neededEmailTrust != nil || policy.headers.contains { $0.value == .email }
        guard usesAddresses,
            let provider = members.first(where: { $0.issuers?.list?.namesDomainsEverywhere == false })
        else { return }
        element.refuse(
            nil,
            "this policy depends on mail addresses (email_domains, email_trust or a header of email), but not every issuer of \(provider.policy.id) has the domains that it may speak for; write them as @example.com in each line of its issuers_file, or remove what depends on them"
        )
    }

    /// Subjects are unique only within their issuer, so a backend must know both.
    private static func checkIssuers(
        _ members: [ProviderSettings], _ policy: ForwardAuthPolicy, _ element: Section
    ) {
        guard members.count > 1 || members.contains(where: { $0.issuers != nil || $0.policy.hasSeveralIssuers }),
            !policy.headers.isEmpty,
            !policy.headers.contains(where: { $0.value == .issuer })
        else { return }
        element.refuse(
            headers.name,
            "this policy accepts tokens of several issuers, and the same subject can belong to different users; add a header for issuer"
        )
    }
}

extension TokenSource {
    fileprivate var isHeader: Bool { if case .header = self { true } else { false } }
}

extension ProviderPolicy {
    /// Whether its identities can have different issuers.
    fileprivate var hasSeveralIssuers: Bool {
        guard hasTemplateIssuer else { return false }
        guard case .only(let tenants) = tenants else { return true }
        return tenants.count > 1
    }
}
