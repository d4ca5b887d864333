package import IDToken
private import JOSE
private import Testing
package import TestSupport

/// A made-up token in the form of a real provider's, signed with a test key, and the expected result.
package struct GoldenToken: Sendable, CustomTestStringConvertible {
    package let preset: ProviderPreset
    package var arguments: PresetArguments = [:]
    /// The relying party's client IDs; `nil`: those in the preset.
    package var audiences: [String]?
    package var authorizedParties: [String] = []
    /// For providers that issue tokens to anyone: the rule that restricts callers.
    package var callers: ClaimRule?
    package var key = TestKey.rsa
    /// Header members other than `alg` and `kid`.
    package var headerMembers = ""
    /// The payload. It was issued at 1 700 000 000, except for tokens that live for less than the tests' 100 seconds.
    package let claims: String
    /// The raw nonce of the sign-in.
    package var nonce: String?
    package var now: Int64 = 1_700_000_100
    /// The identity's members that are not null; `provider` is always the preset's name.
    package let identity: [String: String]

    package var testDescription: String { preset.name }

    package var signIn: SignIn {
        var policy = preset.facts(arguments).policy
        policy.id = preset.name
        policy.audiences = audiences ?? policy.audiences
        policy.authorizedParties = authorizedParties
        if let callers { policy.claimRules = [callers] }
        var signIn = SignIn(claims: ClaimsText(json: claims), policy: policy, now: now, key: key)
        signIn.header = #"{"alg":"\#(key.algorithm)","kid":"\#(key.keyID)"\#(headerMembers)}"#
        signIn.parameters.nonce = nonce
        return signIn
    }
}

extension ClaimsText {
    /// The claims of a JSON text, serialized again.
    package init(json text: String) {
        let members = (try! JSONTree(readingObject: Array(text.utf8))).object ?? [:]
        self = members.sorted { $0.key < $1.key }.reduce(ClaimsText([:])) {
            $0.with($1.key, TestSupport.json($1.value))
        }
    }
}
