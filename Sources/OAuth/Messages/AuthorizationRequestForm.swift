internal import IDToken
internal import JOSE
internal import OpenSSL

/// How a client's authorization requests reach the provider.
package enum AuthorizationRequestForm: String, Sendable, CaseIterable {
    /// In the URL.
    case plain
    /// Sent to the provider first (RFC 9126).
    case pushed
    /// In a signed request object (RFC 9101), in the URL.
    case signed
    /// In a signed request object, sent to the provider first.
    case signedAndPushed = "signed_pushed"

    package var isPushed: Bool { self == .pushed || self == .signedAndPushed }
    package var isSigned: Bool { self == .signed || self == .signedAndPushed }

    /// The form that a discovery document requires.
    package init(pushed: Bool, signed: Bool) {
        self = pushed ? (signed ? .signedAndPushed : .pushed) : (signed ? .signed : .plain)
    }
}

/// The parameters of an authorization request, in whatever form it is sent.
package struct AuthorizationParameters: Sendable {
    /// In order. A name may be there several times.
    package private(set) var all: [(name: String, value: Value)] = []

    package init() {}

    package enum Value: Sendable {
        case text(String)
        /// A number in a request object.
        case number(Int64)
        /// Well-formed JSON, which is an object in a request object.
        case json([UInt8])

        /// In a form or a URL.
        package var text: String {
            switch self {
            case .text(let text): text
            case .number(let number): String(number)
            case .json(let octets): String(decoding: octets, as: UTF8.self)
            }
        }
    }

    package mutating func add(_ name: String, _ value: Value) { all.append((name, value)) }

    /// The text of a parameter; `nil` if there is none.
    package func text(_ name: String) -> String? { all.first { $0.name == name }?.value.text }

    /// The values that a provider's explanation of an error must not bring into a log: they are the user's, or tie a
    /// response to its sign-in.
    var confidential: [String] {
        let names = ["state", "nonce", "login_hint", "id_token_hint", "claims", "code_challenge"]
        return all.filter { names.contains($0.name) }.map(\.value.text)
    }

    /// Writes them as members of an object: several values of one name as an array (RFC 8707, section 2).
    ///
    /// - Parameter others: names that the object has already, or must not have.
    func write(to json: inout JSONWriter, except others: Set<String>) {
        var written = others
        for (name, value) in all where written.insert(name).inserted {
            json.name(escaping: name)
            let texts = all.filter { $0.name == name }.map(\.value.text)
            switch value {
            case .text where texts.count > 1:
                json.beginArray()
                for text in texts { json.value(text) }
                json.endArray()
            case .text(let text): json.value(text)
            case .number(let number): json.value(number)
            case .json(let octets): json.raw(octets[...])
            }
        }
    }
}

/// A request object (RFC 9101, section 4).
package enum RequestObject {
    package static let lifetimeSeconds: Int64 = 300

    /// - Parameters:
    ///   - parameters: without `request` and `request_uri`.
    ///   - issuer: the provider's, the audience.
    /// - Throws: ``OpenSSLError``.
    static func make(
        _ parameters: AuthorizationParameters, of clientID: String, for issuer: String, signedBy key: ClientSigningKey,
        now: UnixTime
    ) throws(OpenSSLError) -> [UInt8] {
        var header = JSONWriter()
        header.beginObject()
        header.member("alg", key.signer.algorithm.rawValue)
        header.member("kid", key.id)
        // Explicit, so that no other JWT that the key signs can pass for a request (RFC 9101, section 10.8).
        header.member("typ", "oauth-authz-req+jwt")
        header.endObject()
        var claims = JSONWriter()
        claims.beginObject()
        claims.member("iss", clientID)
        claims.member("aud", issuer)
        claims.member("nbf", now.seconds)
        claims.member("exp", now.seconds + lifetimeSeconds)
        claims.member("jti", String(decoding: Base64URL.encode(try randomBytes(16)), as: UTF8.self))
        // With `sub`, some servers would take the object for the client's assertion (RFC 9101, section 10.8).
        parameters.write(to: &claims, except: ["iss", "sub", "aud", "nbf", "exp", "iat", "jti"])
        claims.endObject()
        return try key.signer.compactJWS(header: header.bytes, payload: claims.bytes)
    }
}

/// The body of a request to the pushed authorization request endpoint, without client authentication.
package enum PushedAuthorization: Sendable {
    case parameters(AuthorizationParameters)
    /// - Parameter parameters: what is inside, which the provider's explanation of an error may repeat.
    case object([UInt8], of: AuthorizationParameters)
}

/// The provider's reference to a request that was pushed (RFC 9126, section 2.2).
package struct PushedReference: Sendable, Equatable {
    /// `request_uri`.
    package let uri: String
    package let lifetimeSeconds: Int64
}
