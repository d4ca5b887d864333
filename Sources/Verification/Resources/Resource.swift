private import Bytes
package import IDToken
package import JOSE

/// An API as its clients know it: what its tokens are for, where they come from, and what its metadata says.
///
/// - Source: RFC 9728.
package struct Resource: Sendable, Equatable {
    /// The ID in requests to this service, byte for byte.
    package var id: String
    package var address: ResourceAddress
    /// The audiences, one of which a token must have, instead of those of its provider's entry. Empty: tokens have none,
    /// and only their clients tie them to this API.
    package var audiences: [String]
    /// The IDs of the providers whose tokens are accepted. No two of them have the same issuer.
    package var providers: [String]
    /// The issuers that a client may ask for a token.
    package var authorizationServers: [String]
    /// The scopes in a challenge, if a request or a policy needs no others.
    package var scopes: [String]
    /// The members of the metadata that Assay does not know itself.
    package var metadata: [String: JSONTree]
    /// What DPoP proofs for it need, where that differs from its provider's settings.
    package var proofUse = ProofUse()

    package init(
        id: String, address: ResourceAddress, audiences: [String]? = nil, providers: [String],
        authorizationServers: [String], scopes: [String] = [], metadata: [String: JSONTree] = [:]
    ) {
        self.id = id
        self.address = address
        self.audiences = audiences ?? address.spellings
        self.providers = providers
        self.authorizationServers = authorizationServers
        self.scopes = scopes
        self.metadata = metadata
    }
}

extension ProofUse {
    /// These, with those of more general settings for what they leave open.
    package func completed(by general: ProofUse) -> ProofUse {
        var use = self
        use.passesOnce = passesOnce ?? general.passesOnce
        use.needsNonce = needsNonce ?? general.needsNonce
        return use
    }
}

/// A resource's identifier, and the address of its metadata that follows from it.
///
/// - Source: RFC 9728, sections 1.2 and 3.1.
package struct ResourceAddress: Sendable, Equatable {
    /// The identifier as written in the settings, in the metadata, and in audiences.
    package let identifier: String
    /// Scheme and host, and the port if it is not the scheme's own; in lower case.
    private let origin: String
    /// The path of the metadata on the resource's host.
    let metadataPath: String
    private let hasEmptyPath: Bool

    /// - Returns: `nil` for anything but an `https` URL, or an `http` URL of this machine, without user name, query and
    ///   fragment.
    package init?(_ identifier: String) {
        guard let target = TargetURI(identifier), !identifier.utf8.contains(where: { "?#".utf8.contains($0) }) else {
            return nil
        }
        let path = String(Self.afterAuthority(identifier))
        self.identifier = identifier
        origin = String(target.text.dropLast(Self.afterAuthority(target.text).count))
        hasEmptyPath = path.isEmpty || path == "/"
        metadataPath = Self.wellKnown + (hasEmptyPath ? "" : path)
    }

    private static let wellKnown = "/.well-known/oauth-protected-resource"

    /// The path of a URL as written; empty if it has none.
    private static func afterAuthority(_ url: String) -> Substring {
        guard let scheme = url.firstRange(of: "://") else { return "" }
        return url[scheme.upperBound...].drop { $0 != "/" }
    }

    /// The URL of the metadata. Two resources with the same one can't be told apart.
    package var metadataURL: String { origin + metadataPath }

    /// The spellings of the identifier that deployed clients send. Some add a slash to an empty path, and some remove it.
    fileprivate var spellings: [String] {
        guard hasEmptyPath else { return [identifier] }
        return [identifier, identifier.hasSuffix("/") ? String(identifier.dropLast()) : identifier + "/"]
    }

    /// Whether `Host` names the resource's host: without regard to case, and with or without the scheme's own port.
    package func isHost(_ host: ArraySlice<UInt8>) -> Bool {
        let isSecure = origin.hasPrefix("https://")
        let authority = origin.dropFirst(isSecure ? "https://".count : "http://".count)
        let usualPort = isSecure ? ":443" : ":80"
        return host.span.isEqualIgnoringCase(to: authority.utf8.span)
            || host.span.isEqualIgnoringCase(to: (authority + usualPort).utf8.span)
    }
}

/// A resource, and those of the verifier's providers whose tokens it accepts.
package final class ServedResource {
    package let resource: Resource
    /// Those whose tokens are JWTs.
    let providers: ProviderIndex
    /// The number of the provider that is asked about opaque tokens; `nil` if there is none.
    let opaque: Int?
    /// The providers under policies with the resource's audiences, by their numbers.
    private let slots: [Int: RequestVerifier.ProviderSlot]

    /// - Parameters:
    ///   - all: the verifier's providers, by their numbers.
    ///   - number: the number of the provider of access tokens that has an ID.
    init(_ resource: Resource, _ all: [RequestVerifier.ProviderSlot?], number: (String) -> Int?) {
        self.resource = resource
        var slots: [Int: RequestVerifier.ProviderSlot] = [:]
        for number in resource.providers.compactMap(number) {
            slots[number] = all[number].map { RequestVerifier.ProviderSlot($0, audiences: resource.audiences) }
        }
        self.slots = slots
        providers = ProviderIndex(all, among: slots.keys.sorted()) { $0.introspector == nil }
        opaque = slots.first { $0.value.provider.introspector != nil }?.key
    }

    /// The provider with this number, if the resource accepts its tokens.
    subscript(number: Int) -> RequestVerifier.ProviderSlot? { slots[number] }

    /// The keys that the tokens of its providers must be bound to; `nil`: to none.
    private var requiredBindings: [RequiredBinding?] { slots.values.map { $0.provider.accessTokens?.requiredBinding } }

    /// Whether no token passes without a DPoP proof.
    private var requiresProofs: Bool { requiredBindings.allSatisfy { $0 == .dpop } }

    /// Whether tokens must, or may have to, be bound to the client's certificate.
    private var asksForCertificates: Bool { requiredBindings.contains { $0 == .certificate || $0 == .any } }

    /// Writes the metadata as a JSON object.
    ///
    /// - Parameter proofs: the rules of DPoP proofs; `nil`: they are not checked.
    /// - Source: RFC 9728, section 2.
    package func writeMetadata(to json: inout JSONWriter, _ proofs: ProofRules?) {
        json.object { json in
            json.member("resource", resource.address.identifier)
            json.array("authorization_servers", resource.authorizationServers)
            json.array("bearer_methods_supported", ["header"])
            var members = resource.metadata
            if !resource.scopes.isEmpty, members["scopes_supported"] == nil {
                members["scopes_supported"] = .array(resource.scopes.map(JSONTree.string))
            }
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                json.name(escaping: name)
                json.value(value)
            }
            if let proofs {
                json.array("dpop_signing_alg_values_supported", proofs.algorithms.elements.map(\.rawValue))
                if requiresProofs { json.member("dpop_bound_access_tokens_required", true) }
            }
            if asksForCertificates { json.member("tls_client_certificate_bound_access_tokens", true) }
        }
    }

    /// The members of the metadata that the settings can't have: those that ``writeMetadata(to:_:)`` writes, and those
    /// that need a key of the resource.
    package static let reservedMembers: Set = [
        "resource", "authorization_servers", "bearer_methods_supported", "dpop_signing_alg_values_supported",
        "dpop_bound_access_tokens_required", "tls_client_certificate_bound_access_tokens", "jwks_uri",
        "signed_metadata",
    ]
}

extension [ServedResource] {
    /// The resource with this ID, compared byte for byte.
    func named(_ id: String) -> ServedResource? { first { $0.resource.id.isExactly(id) } }
}

extension RequestVerifier {
    /// The resource with this ID.
    package func resource(_ id: String) -> ServedResource? { resources.named(id) }

    /// The resource whose metadata is at this address.
    package func resource(withMetadataAt path: ArraySlice<UInt8>, onHost host: ArraySlice<UInt8>) -> ServedResource? {
        resources.first { $0.resource.address.metadataPath.isExactly(path.span) && $0.resource.address.isHost(host) }
    }

    /// The problem of a request that names a resource that is not configured.
    package func unknownResource(named id: String) -> Problem {
        .resourceUnknown(nearest: Suggestion.nearest(to: id, among: resources.map(\.resource.id)))
    }
}

/// What an API answers to a client whose token it refuses: the status, and the value of `WWW-Authenticate`.
package struct Challenge: Sendable, Equatable {
    package let status: Int
    package let field: String

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("status", Int64(status))
            json.member("www_authenticate", field)
        }
    }
}

extension ServedResource {
    /// The challenge for a refused token, or for a request without one.
    ///
    /// - Parameters:
    ///   - code: of the problem, or of a gateway's denial.
    ///   - scopes: those that the request needed; empty: the resource's.
    ///   - proofs: the rules of DPoP proofs; `nil`: they are not checked, and not mentioned.
    ///   - needsProof: whether the token, for which a key was not proven as it must be, goes with a DPoP proof.
    /// - Source: RFC 6750, section 3; RFC 9449, section 7.1; RFC 9728, section 5.1.
    package func challenge(code: String, scopes: [String], _ proofs: ProofRules?, needsProof: Bool) -> Challenge {
        let row = Row(code: code, needsProof: needsProof)
        let schemes = ChallengeSchemes(
            takesBearer: !requiresProofs, proofAlgorithms: proofs?.algorithms.elements.map(\.rawValue) ?? [])
        let field = schemes.challenge(
            error: row.error, scopes: scopes.isEmpty ? resource.scopes : scopes,
            metadata: resource.address.metadataURL, isForProofs: row.isForProofs)
        return Challenge(status: row.status, field: field)
    }

    /// The facts about a code.
    private struct Row {
        let status: Int
        /// `nil`: another token would not help, or none came (RFC 6750, section 3.1).
        let error: String?
        /// Whether the client must answer with a DPoP proof, whatever else the resource accepts.
        let isForProofs: Bool

        init(code: String, needsProof: Bool) {
            (status, error, isForProofs) =
                switch code {
                case "scope_missing": (403, "insufficient_scope", false)
                case "subject_mismatch", "groups_overage", "requirement_not_met": (403, nil, false)
                case "dpop_proof_invalid", "dpop_proof_replayed": (401, "invalid_dpop_proof", true)
                case "dpop_nonce_required": (401, "use_dpop_nonce", true)
                case "token_missing": (401, nil, false)
                // Several tokens, or bytes that no token has.
                case "request_invalid": (401, "invalid_request", false)
                case "binding_required", "binding_missing", "binding_mismatch": (401, "invalid_token", needsProof)
                default: (401, "invalid_token", false)
                }
        }
    }
}

extension RequestVerifier {
    /// The resource that a request is for; `nil` if it names none, or one that is not configured.
    package func resource(of request: AccessTokenRequest) -> Resource? {
        request.resource.flatMap(resource)?.resource
    }

    /// The challenge with which an API answers a refused access token.
    ///
    /// - Parameters:
    ///   - problem: why the request was refused.
    ///   - proofs: the rules of DPoP proofs; `nil`: they are not checked.
    /// - Returns: `nil` if the request names no resource, or if the token was not refused.
    package func challenge(
        to request: AccessTokenRequest, _ problem: Problem?, provider: Int?, _ proofs: ProofRules?
    ) -> Challenge? {
        guard let problem, problem.status == 422, let resource = request.resource.flatMap(resource) else { return nil }
        return resource.challenge(
            code: problem.code, scopes: request.parameters.scopes, proofs,
            needsProof: needsProof(request.token, ofProvider: provider))
    }

    /// Whether a token goes with a DPoP proof: it is bound to a key of proofs, or its provider's settings demand that.
    /// Where a proof or a certificate would do, it is a proof.
    func needsProof(_ text: ArraySlice<UInt8>?, ofProvider number: Int?) -> Bool {
        guard let text, let number, let dialect = slots[number]?.provider.accessTokens,
            let token = try? read(text, ofProvider: number, among: ofAccessTokens).token
        else { return true }
        return token.goesWithProof(dialect)
    }
}
