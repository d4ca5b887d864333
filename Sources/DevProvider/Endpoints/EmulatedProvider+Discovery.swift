internal import IDToken
internal import JSON

/// The documents that relying parties read.
extension EmulatedProvider {
    /// - Parameter tenant: the tenant whose document is requested; `nil` for the tenant-independent document.
    func discoveryDocument(ofTenant tenant: String?) -> JSONTree {
        let isApple = settings.quirks.contains(.formPostForScopes)
        var members: [String: JSONTree] = [
            "issuer": .string(documentIssuer(ofTenant: tenant) + (faults.has(.wrongIssuer) ? "/another" : "")),
            "jwks_uri": .string(base + "/keys"),
            "token_endpoint": .string(base + "/token"), "authorization_endpoint": .string(base + "/authorize"),
            "response_types_supported": list("code", "code id_token"),
            "response_modes_supported": list("query", "fragment", "form_post"),
            "grant_types_supported": list("authorization_code", "refresh_token"),
            "subject_types_supported": list("pairwise"),
            "scopes_supported": isApple ? list("name", "email") : list("openid", "email", "profile"),
            "id_token_signing_alg_values_supported": .array([.string(keys.algorithm)]),
            "code_challenge_methods_supported": list("S256"),
            "prompt_values_supported": list("none"),
            "token_endpoint_auth_methods_supported": isApple
                ? list("client_secret_post")
                : list("client_secret_basic", "client_secret_post", "private_key_jwt", "none"),
        ]
        if !isApple { members["token_endpoint_auth_signing_alg_values_supported"] = list("RS256", "PS256", "ES256") }
        if dialect.hasRevocation { members["revocation_endpoint"] = .string(base + "/revoke") }
        if dialect.hasUserInfo { members["userinfo_endpoint"] = .string(base + "/userinfo") }
        if dialect.namesResponseIssuer {
            members["authorization_response_iss_parameter_supported"] = .bool(true)
        }
        if dialect.events != .apple { members["backchannel_logout_supported"] = .bool(true) }
        return .object(members)
    }

    /// The issuer in the discovery document. The tenant-independent document has the issuer template.
    func documentIssuer(ofTenant tenant: String?) -> String {
        guard let template = policy.issuerTemplates?.first, let tenant else { return policy.issuer }
        return template.issuer(ofTenant: tenant)
    }

    var keySet: JSONTree {
        let contents: ProviderKeys.SetContents =
            faults.has(.noKeys) ? .none : faults.has(.thinKeys) ? .withoutCurrent : .all
        return keys.set(issuer: policy.keyIssuers.first?.text, contents)
    }

    private func list(_ texts: String...) -> JSONTree { .array(texts.map(JSONTree.string)) }
}
