internal import Grants
internal import IDToken
internal import JOSE

extension ValueType where Value == String {
    static var scope: Self {
        text("a scope: visible ASCII without spaces, double quotes or backslashes") { $0.isScope }
    }
}

extension ValueType where Value == ClaimPath {
    static var claim: Self {
        Self(
            expected: "the name of a claim", form: .text(), parse: { $0.isEmpty ? nil : ClaimPath($0) },
            text: \.name.string)
    }
}

extension ValueType where Value == SignatureAlgorithm {
    static var algorithm: Self {
        var type = word
        type.remedy = { text in
            switch text.uppercased() {
            case "HS256", "HS384", "HS512":
                "tokens that are signed with a shared secret (HMAC) are always refused: set the client up at the provider so that it signs with RS256 or ES256"
            case "NONE": "unsigned tokens are always refused"
            default: nil
            }
        }
        return type
    }
}
