import Crypto
import CryptoExtras
import Foundation

/// A token of Apple's form with a fresh key, and the parts that bare checks need.
struct Token {
    let name: String
    let text: String
    /// The key as a JWK.
    let jwk: String
    let pem: String
    /// As OpenSSL reads it: DER for an elliptic curve.
    let signature: [UInt8]
    let signingInput: [UInt8]
    /// Whether the signature is valid, by swift-crypto.
    let isValidBySwiftCrypto: () -> Bool

    static let (issuer, audience) = ("https://appleid.apple.com", "com.example.app")
    static let nonce = "0123456789abcdef"

    static func es256() throws -> Token {
        let key = P256.Signing.PrivateKey()
        let input = try signingInput("ES256")
        let signature = try key.signature(for: input)
        let point = Data(key.publicKey.x963Representation.dropFirst())
        return Token(
            name: "ES256", text: compact(input, signature.rawRepresentation),
            jwk:
                #"{"kty":"EC","crv":"P-256","kid":"k","alg":"ES256","x":"\#(base64URL(point.prefix(32)))","y":"\#(base64URL(point.suffix(32)))"}"#,
            pem: key.publicKey.pemRepresentation, signature: Array(signature.derRepresentation),
            signingInput: Array(input)
        ) { [publicKey = key.publicKey] in publicKey.isValidSignature(signature, for: input) }
    }

    static func rs256() throws -> Token {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let input = try signingInput("RS256")
        let signature = try key.signature(for: input, padding: .insecurePKCS1v1_5)
        let numbers = try key.publicKey.getKeyPrimitives()
        return Token(
            name: "RS256, 2048 bits", text: compact(input, signature.rawRepresentation),
            jwk:
                #"{"kty":"RSA","kid":"k","alg":"RS256","n":"\#(base64URL(numbers.modulus))","e":"\#(base64URL(numbers.publicExponent))"}"#,
            pem: key.publicKey.pemRepresentation, signature: Array(signature.rawRepresentation),
            signingInput: Array(input)
        ) { [publicKey = key.publicKey] in
            publicKey.isValidSignature(signature, for: input, padding: .insecurePKCS1v1_5)
        }
    }

    private static func signingInput(_ algorithm: String) throws -> Data {
        let now = Int(Date().timeIntervalSince1970)
        let claims =
            #"{"iss":"\#(issuer)","aud":"\#(audience)","exp":\#(now + 86400),"iat":\#(now),"sub":"001026.16112b36378440d995af22b268f00984.1744","nonce":"\#(nonce)","email":"abc@privaterelay.appleid.com","email_verified":"true","is_private_email":"true","auth_time":\#(now),"nonce_supported":true}"#
        let header = #"{"kid":"k","alg":"\#(algorithm)"}"#
        return Data((base64URL(Data(header.utf8)) + "." + base64URL(Data(claims.utf8))).utf8)
    }

    private static func compact(_ input: Data, _ signature: Data) -> String {
        String(decoding: input, as: UTF8.self) + "." + base64URL(signature)
    }
}

func base64URL(_ data: some DataProtocol) -> String {
    Data(data).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}
