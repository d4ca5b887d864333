import Bytes
import IDToken
import JOSE
import Keys
import OAuth
import Settings

/// Compares what clients need in order to sign users in with what a provider's discovery document says that it supports.
///
/// A list that lacks something is a failure. A list that is not there says nothing: it is only a warning, and only for a
/// client with a profile.
struct RequestInspection {
    let provider: ProviderSettings
    let document: InspectedDocument

    /// In order, each once.
    var findings: [Finding] {
        guard provider.introspection == nil else { return [] }
        var findings: [Finding] = []
        for client in provider.clients where !client.client.redirectURIs.isEmpty {
            let name = "the client \(client.client.id.quotedASCII(maximumLength: 100))"
            findings += requests(name, client.client.requestForm, client.client.profile)
            findings += grants(name, client)
            if let profile = client.client.profile { findings += demands(of: profile, name, client) }
        }
        if let named = provider.namedClients { findings += requests("clients.request", named.rules.requestForm, nil) }
        return findings.enumerated().filter { !findings[..<$0.offset].contains($0.element) }.map(\.element)
    }

    /// Whether requests can reach the provider in the client's form.
    private func requests(
        _ name: String, _ form: AuthorizationRequestForm?, _ profile: SecurityProfile?
    ) -> [Finding] {
        let endpoints = document.endpoints
        let required = AuthorizationRequestForm(
            pushed: endpoints.requiresPushedRequests, signed: endpoints.requiresSignedRequests)
        var findings: [Finding] = []
        if let form, endpoints.requiresPushedRequests, !form.isPushed {
            findings.append(Self.contradiction(name, form, "pushed", "require_pushed_authorization_requests"))
        }
        if let form, endpoints.requiresSignedRequests, !form.isSigned {
            findings.append(Self.contradiction(name, form, "signed", "require_signed_request_object"))
        }
        guard (form ?? required).isPushed else { return findings }
        if let address = provider.endpoints.pushedRequest ?? endpoints[.pushedRequest]?.text {
            findings.append(Finding(.discovery, .ok, "authorization requests are pushed to \(address)"))
        } else {
            let reason = form == nil ? "it requires pushed requests" : "\(name) has request: \(form?.rawValue ?? "")"
            let remedy =
                profile == nil
                ? "set endpoints.pushed_authorization_request" + (form == nil ? "" : ", or change request")
                : "the provider must name it, because a profile takes endpoints from the document alone"
            findings.append(
                Finding(
                    .discovery, .failure,
                    "the document names no pushed_authorization_request_endpoint that can be used, but \(reason): \(remedy)"
                ))
        }
        return findings
    }

    private static func contradiction(
        _ name: String, _ form: AuthorizationRequestForm, _ demanded: String, _ member: String
    ) -> Finding {
        Finding(
            .discovery, .failure,
            "the document requires \(demanded) requests (\(member)), but \(name) has request: \(form.rawValue): remove request"
        )
    }

    /// Whether grants can be bound to the client.
    private func grants(_ name: String, _ client: ClientSettings) -> [Finding] {
        switch client.client.senderConstraint {
        case .dpop:
            [demand(["ES256"], in: "dpop_signing_alg_values_supported", "\(name) has sender_constraint: dpop", client)]
                .compactMap(\.self)
        case .certificate where client.client.profile != nil:
            [promise("tls_client_certificate_bound_access_tokens", "so tokens may not be bound to the certificate")]
                .compactMap(\.self)
        case .certificate, nil: []
        }
    }

    private func demands(
        of profile: SecurityProfile, _ name: String, _ client: ClientSettings
    ) -> [Finding] {
        let entry = "the entry has profile: \(profile.rawValue)"
        let method = client.authentication.registeredMethod
        var findings = [
            promise(
                "authorization_response_iss_parameter_supported",
                "but a response without iss is refused (profile: \(profile.rawValue))"),
            demand(["code"], in: "response_types_supported", entry, client),
            demand(["S256"], in: "code_challenge_methods_supported", entry, client),
            demand(
                provider.policy.algorithms?.names ?? [], in: "id_token_signing_alg_values_supported", entry, client),
            demand([method], in: "token_endpoint_auth_methods_supported", "\(name) has auth: \(method)", client),
        ]
        switch client.authentication {
        case .privateKeyJWT, .signingKey:
            findings.append(
                demand(profile.algorithms.names, in: "token_endpoint_auth_signing_alg_values_supported", entry, client))
        case .certificate, .secret, .apple, .none: break
        }
        if client.client.requestForm?.isSigned == true {
            findings.append(
                demand(profile.algorithms.names, in: "request_object_signing_alg_values_supported", entry, client))
        }
        return findings.compactMap(\.self)
    }

    /// - Returns: `nil` if the list has one of the values, or if there is none and the client has no profile.
    private func demand(
        _ values: [String], in name: String, _ reason: String, _ client: ClientSettings
    ) -> Finding? {
        let wanted = values.joined(separator: ", ")
        guard let listed = document.list(name) else {
            guard client.client.profile != nil else { return nil }
            return Finding(
                .discovery, .warning,
                "the document has no \(name), so it does not say whether the provider supports \(wanted); \(reason)")
        }
        guard !listed.contains(where: values.contains) else { return nil }
        let found = listed.joined(separator: ", ").quotedASCII(maximumLength: 200)
        let one = values.count == 1 ? wanted : "one of \(wanted)"
        return Finding(
            .discovery, .failure,
            "\(name) of the document is \(found), but \(reason), which needs \(one): ask the provider, or correct the settings"
        )
    }

    /// - Returns: `nil` if the document has the member.
    private func promise(_ name: String, _ consequence: String) -> Finding? {
        document.isTrue(name)
            ? nil : Finding(.discovery, .warning, "the document does not have \(name): true, \(consequence)")
    }
}
