internal import Grants
internal import IDToken

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
