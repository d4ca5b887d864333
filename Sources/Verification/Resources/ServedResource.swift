private import Bytes
package import IDToken
package import JOSE

/// A resource, and those of the verifier's providers whose tokens it accepts.
package final class ServedResource {
    package let resource: Resource
    /// Those whose tokens are JWTs.
    let providers: ProviderIndex
    /// The number of the provider that is asked about opaque tokens; `nil` if there is none.
    let opaque: Int?
    /// The providers under policies with the resource's audiences, by their numbers.
    private let slots: [Int: RequestVerifier.ProviderSlot]

    /// - Parameter all: the verifier's providers, by their numbers.
    init(_ resource: Resource, _ all: [RequestVerifier.ProviderSlot?]) {
        self.resource = resource
        var slots: [Int: RequestVerifier.ProviderSlot] = [:]
        for case (let number, let slot?) in all.enumerated()
        where slot.provider.accessTokens != nil && resource.providers.containsExactly(slot.policy.id) {
            slots[number] = RequestVerifier.ProviderSlot(slot, audiences: resource.audiences)
        }
        self.slots = slots
        providers = ProviderIndex(all) {
            $0.accessTokens != nil && $0.introspector == nil && resource.providers.containsExactly($0.policy.id)
        }
        opaque = slots.first { $0.value.provider.introspector != nil }?.key
    }

    /// The provider with this number, if the resource accepts its tokens.
    subscript(number: Int) -> RequestVerifier.ProviderSlot? { slots[number] }

    /// The keys that the tokens of its providers must be bound to; `nil`: to none.
    private var requiredBindings: [RequiredBinding?] { slots.values.map { $0.provider.accessTokens?.requiredBinding } }

    /// Whether no token passes without a DPoP proof.
    var requiresProofs: Bool { requiredBindings.allSatisfy { $0 == .dpop } }

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
