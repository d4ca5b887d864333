private import Bytes
internal import HTTP
internal import IDToken
internal import JOSE
private import OpenSSL

/// Issues tokens in one call, for scripts and native apps.
extension DevResponder {
    /// A script's request for a token: whose, for which client, and with which claims.
    struct Minting {
        let person: Person
        let clientID: String
        /// The raw nonce. The provider received this, or its hash, from the app.
        let nonce: String
        var claims: [String: JSONTree] = [:]
        var wantsCode = false
        /// The request that a DPoP proof is made for, to whose key the access token is bound; `nil`: to none.
        var proving: DevProofRequest?
        /// The certificate that the access token is bound to; `nil`: to none.
        var certificate: DevCertificate?
    }

    /// A token that was issued, and what proves its key.
    struct Minted {
        /// Those of a request to verify the token.
        var members: [String: JSONTree]
        /// The claim `cnf`; empty for a token that is not bound.
        var confirmation: [String: JSONTree] = [:]
    }

    func token(_ request: HTTPRequest, _ provider: inout EmulatedProvider, now: Int64) throws -> HTTPResponse {
        let members = try request.members()
        try members.checkNames(["nonce", "claims", "code", "person", "audience", "dpop", "certificate"])
        let proving = try members.object("dpop").map(DevProofRequest.init)
        let certificate = try members.text("certificate").map(DevCertificate.init)
        guard provider.settings.accessTokens != nil || proving == nil && certificate == nil else {
            throw DevRequestError(
                "\(proving == nil ? "certificate" : "dpop") is only for access tokens; this provider issues ID Tokens")
        }
        let minting = Minting(
            person: try person(members["person"]), clientID: try clientID(members.text("audience"), provider),
            nonce: try members.text("nonce") ?? randomName(), claims: try members.object("claims") ?? [:],
            wantsCode: try members.flag("code") ?? false, proving: proving, certificate: certificate)
        return .json(.object(try mint(minting, &provider, now: now).members))
    }

    /// Issues a token.
    ///
    /// - Throws: ``OpenSSLError``.
    func mint(_ minting: Minting, _ provider: inout EmulatedProvider, now: Int64) throws -> Minted {
        if let dialect = provider.settings.accessTokens { return try mint(minting, dialect, &provider, now: now) }
        let nonce = try Self.claim(for: minting.nonce, provider.policy.nonce)
        var request = EmulatedProvider.TokenRequest(
            person: minting.person, clientID: minting.clientID, nonce: nonce)
        if minting.wantsCode {
            let claimed = minting.claims["nonce"].map(\.string) ?? nonce
            request.code = try provider.nativeCode(
                minting.person, clientID: minting.clientID, nonce: claimed, now: now)
        }
        var claims = try provider.idTokenClaims(request, now: now)
        for (name, value) in minting.claims { claims[name] = value == .null ? nil : value }
        var answer: [String: JSONTree] = ["id_token": .string(try provider.idToken(claims))]
        // An encrypted token does not show its issuer.
        if provider.settings.issuers?.isOpen == true || provider.settings.encryption?.kinds.contains(.idToken) == true {
            answer.merge(provider.settings.requestMembers) { $1 }
        }
        if provider.policy.nonce.isChecked { answer["nonce"] = .string(minting.nonce) }
        if let code = request.code { answer["code"] = .string(code) }
        return Minted(members: answer)
    }

    private func mint(
        _ minting: Minting, _ dialect: AccessTokenDialect, _ provider: inout EmulatedProvider, now: Int64
    ) throws -> Minted {
        let granted = EmulatedProvider.GrantedAccess(
            person: minting.person, audience: minting.clientID, clientID: minting.clientID)
        let key = try minting.proving.map { _ in try DevProofKey() }
        var confirmation: [String: JSONTree] = [:]
        if let key { confirmation["jkt"] = .string(key.thumbprint) }
        if let certificate = minting.certificate { confirmation["x5t#S256"] = .string(certificate.thumbprint) }
        var claims = minting.claims
        if !confirmation.isEmpty, claims["cnf"] == nil { claims["cnf"] = .object(confirmation) }
        let token = try provider.accessToken(dialect, granted, overriding: claims, id: randomName(), now: now)
        var members: [String: JSONTree] = ["token": .string(token)]
        // An opaque token does not say whose it is.
        if provider.settings.hasOpaqueTokens { members.merge(provider.settings.requestMembers) { $1 } }
        if let certificate = minting.certificate { members["certificate"] = .string(certificate.text) }
        if let key, let request = minting.proving {
            members["dpop"] = request.evidence(try key.proof(for: request, token: token, now: now))
        }
        return Minted(members: members, confirmation: confirmation)
    }

    /// The `nonce` claim for a raw nonce: some providers receive its hash from the app.
    private static func claim(for nonce: String, _ rule: NonceRule) throws -> String {
        let hash = try DigestContext().digest(Array(nonce.utf8).span, with: .sha256)
        return switch rule.accepted.first {
        case .sha256Hex: String(hexadecimal: hash.span)
        case .sha256Base64URL: String(decoding: Base64URL.encode(hash), as: UTF8.self)
        case .plain, nil: nonce
        }
    }

    /// The person that a request names or describes; the default person if it does neither.
    ///
    /// - Throws: ``DevRequestError``.
    func person(_ value: JSONTree?) throws -> Person {
        switch value {
        case nil, .null: return people.usual
        case .string(let id):
            if let person = people.named(id) { return person }
            let known = people.all.map(\.id).joined(separator: ", ")
            throw DevRequestError("there is no person \(id); name one of \(known), or describe a person as an object")
        case .object(let members): return try Person(members)
        default: throw DevRequestError("person must be a name or an object")
        }
    }

    /// - Throws: ``DevRequestError``.
    func clientID(_ audience: String?, _ provider: EmulatedProvider) throws -> String {
        guard let audience else { return provider.audiences.first ?? "" }
        guard provider.audiences.contains(audience) else {
            throw DevRequestError(
                "audience must be one of \(provider.audiences.joined(separator: ", ")); to see a refusal, set claims.aud"
            )
        }
        return audience
    }
}
