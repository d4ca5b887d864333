import JOSE
import OpenSSL

/// An Ed25519 key generated for this run. It is the fastest to sign with, and lets inputs get past the signature check.
enum Signer {
    static let keyID = "1"

    static let keys = constant {
        let point = try key.publicComponents().flatMap { Base64URL.encode($0.octets) }
        let x = String(decoding: point, as: UTF8.self)
        return try JWKSet(Array(#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"\#(keyID)","x":"\#(x)"}]}"#.utf8))
    }

    /// A signed compact JWS with any header.
    static func token(header: [UInt8], payload: [UInt8]) -> [UInt8] {
        constant { try JWSSigner(key).compactJWS(header: header, payload: payload) }
    }

    private static let key = constant { try SigningKey(generating: .edwards(.ed25519)) }
}
