private import Bytes
private import JOSE

/// The client ID and credentials in a request to the token endpoint.
struct ClientAuthentication {
    let clientID: String
    private let proof: Proof

    private enum Proof {
        case basic(String)
        case post(String)
        case assertion(String)
        case none
    }

    /// - Throws: ``DevOAuthError``.
    init(_ form: FormParameters, authorization: String?) throws {
        if let credentials = authorization?.dropFirstWord("Basic") {
            // Base64 with the other alphabet (RFC 4648, section 4), and padded.
            let encoded = credentials.replacing("+", with: "-").replacing("/", with: "_").prefix { $0 != "=" }
            guard form["client_secret"] == nil, let octets = Base64URL.decode(Array(encoded.utf8).span) else {
                throw DevOAuthError.invalidRequest
            }
            let parts = String(decoding: octets, as: UTF8.self).split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let id = FormParameters.decode(parts[0]),
                let secret = FormParameters.decode(parts[1])
            else { throw DevOAuthError.invalidClient }
            (clientID, proof) = (id, .basic(secret))
        } else if let assertion = form["client_assertion"] {
            guard form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                let subject = (try? CompactJWS(assertion)).flatMap({ try? JSONTree(readingObject: $0.payload) })?
                    .object?["sub"]?.string
            else { throw DevOAuthError.invalidClient }
            (clientID, proof) = (form["client_id"] ?? subject, .assertion(assertion))
        } else {
            guard let id = form["client_id"] else { throw DevOAuthError.invalidClient }
            (clientID, proof) = (id, form["client_secret"].map(Proof.post) ?? .none)
        }
    }

    /// Whether the client used the method that it is registered for. Any secret or key is accepted, because the files
    /// that the settings name are not opened.
    ///
    /// - Parameter audiences: the accepted values of an assertion's `aud`.
    func isAccepted(for client: DevClient, audiences: [String], now: Int64) -> Bool {
        switch (client.authentication, proof) {
        case (.basic, .basic(let secret)), (.post, .post(let secret)): !secret.isEmpty
        case (.any, .basic(let secret)), (.any, .post(let secret)): !secret.isEmpty
        case (.appleSecret, .post(let secret)): isAppleSecret(secret, now: now)
        case (.assertion, .assertion(let token)), (.any, .assertion(let token)):
            isAssertion(token, audiences, now: now)
        case (.none, .none), (.any, .none): true
        default: false
        }
    }

    /// - Source: developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret.
    private func isAppleSecret(_ secret: String, now: Int64) -> Bool {
        guard let jws = try? CompactJWS(secret), jws.header.algorithm == .es256, jws.header.keyID != nil,
            let claims = (try? JSONTree(readingObject: jws.payload))?.object,
            let issuedAt = claims["iat"]?.integer, let expiresAt = claims["exp"]?.integer
        else { return false }
        return claims["iss"]?.string != nil && claims["sub"] == .string(clientID)
            && claims["aud"] == .string("https://appleid.apple.com") && issuedAt <= now && now < expiresAt
            && expiresAt <= now + 15_777_000
    }

    /// - Source: OpenID Connect Core 1.0, section 9.
    private func isAssertion(_ token: String, _ audiences: [String], now: Int64) -> Bool {
        guard let jws = try? CompactJWS(token), let claims = (try? JSONTree(readingObject: jws.payload))?.object,
            let expiresAt = claims["exp"]?.integer
        else { return false }
        let named = claims["aud"]?.array ?? claims["aud"].map { [$0] } ?? []
        return claims["iss"] == .string(clientID) && claims["sub"] == .string(clientID)
            && claims["jti"]?.string != nil && now < expiresAt
            && named.contains { audience in audiences.contains { audience == .string($0) } }
    }
}

extension String {
    /// The text after a word and a space; `nil` if the text does not begin with this word.
    func dropFirstWord(_ word: String) -> String? {
        hasPrefix(word + " ") ? String(dropFirst(word.count + 1)) : nil
    }
}
