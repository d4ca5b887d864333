import IDToken
import OAuth
import Testing

@Suite struct DemandedNonceTests {
    private static let demand = #"{"error":"use_dpop_nonce"}"#

    private static func answer(
        _ body: String = demand, _ status: UInt = 400, nonces: [String] = ["n1"], challenges: [String] = [],
        isCoded: Bool = false
    ) -> EndpointAnswer {
        EndpointAnswer(
            status: status, retryAfter: nil, hasContentCoding: isCoded, proofNonces: nonces, challenges: challenges,
            body: Array(body.utf8))
    }

    @Test(arguments: [UInt(400), 401]) func `a demand has one nonce`(status: UInt) {
        #expect(Self.answer(Self.demand, status).demandedNonce == "n1")
        #expect(Self.answer(nonces: [String(repeating: "n", count: 1024)]).demandedNonce != nil)
    }

    @Test(arguments: [UInt(200), 302, 399, 402, 403, 429, 500]) func `no other status demands one`(status: UInt) {
        #expect(Self.answer(Self.demand, status).demandedNonce == nil)
    }

    @Test(arguments: [[], ["n1", "n2"], ["n1", "n1"], [""], ["n 1"], ["n\"1"], ["n\\1"], ["ü"]])
    func `nothing else is a nonce`(nonces: [String]) {
        #expect(Self.answer(nonces: nonces).demandedNonce == nil)
    }

    @Test func `a long one is none`() {
        #expect(Self.answer(nonces: [String(repeating: "n", count: 1025)]).demandedNonce == nil)
    }

    @Test(arguments: [
        #"{"error":"invalid_grant"}"#, #"{"error":"USE_DPOP_NONCE"}"#, #"{"error":["use_dpop_nonce"]}"#, "{}", "",
        "use_dpop_nonce",
    ])
    func `no other error demands one`(body: String) {
        #expect(Self.answer(body).demandedNonce == nil)
    }

    @Test func `a compressed body was not asked for`() {
        #expect(Self.answer(isCoded: true).demandedNonce == nil)
    }

    @Test(arguments: [
        (#"DPoP error="use_dpop_nonce", error_description="x""#, true), (#"dpop error="use_dpop_nonce""#, true),
        (#"Bearer realm="x", DPoP algs="ES256", error="use_dpop_nonce""#, true),
        (#"Bearer error="use_dpop_nonce""#, false), (#"DPoP error="invalid_token""#, false),
    ])
    func `a resource server demands one in its challenge`(challenge: String, isDemand: Bool) {
        #expect((Self.answer("", 401, challenges: [challenge]).demandedNonce != nil) == isDemand)
        // The body's error counts first.
        #expect(Self.answer(#"{"error":"invalid_token"}"#, 401, challenges: [challenge]).demandedNonce == nil)
    }

    @Test(arguments: [("DPoP", true), ("dpop", true), ("Bearer", false), ("", false)])
    func `a grant for a proof has bound tokens`(type: String, isBound: Bool) {
        let answer = Self.answer(#"{"access_token":"a","token_type":"\#(type)"}"#, 200)
        let now = UnixTime(seconds: 0)
        #expect(((try? answer.grant([.noTokenType], isProven: true, now: now)) != nil) == isBound)
        #expect((try? answer.grant([.noTokenType], now: now)) != nil)
    }
}
