import IDToken
import Testing
import TestSupport
import Verification

/// What a gateway's request has to prove the key of a token.
@Suite struct GatewayEvidenceTests {
    private static let checks = ProofChecks(ProofRules(), ProofNonces([]))
    private static let named = RequestURL(
        origin: "https://a.example", method: .header("X-Method"), path: .header("X-Path"))

    private func evidence(
        _ lines: [String], _ url: RequestURL? = named, certificate: CertificateField? = nil, below path: String = ""
    ) throws(Denial) -> BindingEvidence {
        var policy = ForwardAuthPolicy(id: "p", providers: [])
        policy.requestURL = url
        policy.clientCertificate = certificate
        let fields = TokenSourceTests.Fields(lines: lines + ["Authorization: DPoP a"])
        let sent =
            try policy.requestURL == nil
            ? ForwardAuthPolicy(id: "p", providers: [], sources: [.header("Authorization", scheme: "DPoP")]).token(
                in: fields)
            : policy.token(in: fields)
        let line = GatewayRequestLine(method: "GET", pathBelowPolicy: Array(path.utf8)[...])
        let request = try policy.requestURL?.request(in: fields, line)
        return try policy.evidence(in: fields, of: request, beside: sent, Self.checks)
    }

    private static let request = ["X-Method: POST", "X-Path: /orders?page=2"]

    @Test func `the gateway must name method and path, each once`() throws {
        #expect(try evidence(Self.request).needsBoundToken)
        #expect(try evidence(Self.request).proof == nil)
        #expect(try evidence(Self.request + ["DPoP: "]).proof == nil)
        #expect(try evidence(Self.request + ["DPoP: a"]).proof != nil)
        for lines in [
            [], ["X-Method: GET"], ["X-Path: /"], Self.request + ["X-Method: POST"], Self.request + ["x-path: /"],
            ["X-Method: ", "X-Path: /"], ["X-Method: GET", "X-Path: "],
        ] { #expect(throws: Denial.requestUnknown, "\(lines)") { try evidence(lines) } }
        #expect(throws: Denial.proofRejected(code: "dpop_proof_invalid")) {
            try evidence(Self.request + ["DPoP: a", "DPoP: b"])
        }
    }

    @Test func `without request_url nothing of a proof is read`() throws {
        let evidence = try evidence(["DPoP: a", "DPoP: b"], nil)
        #expect(!evidence.needsBoundToken)
    }

    @Test func `the question itself may be the request`() throws {
        let itself = RequestURL(origin: "https://a.example", method: .request, path: .request)
        for path in ["/", "//", "/orders", "//orders"] {
            #expect(try evidence(["DPoP: a"], itself, below: path).proof != nil)
        }
        #expect(throws: Denial.requestUnknown) { try evidence(["DPoP: a"], itself) }
    }

    @Test func `a certificate is in one field, or there is none`() throws {
        let field = CertificateField(header: "X-Cert", form: .pem)
        let pem = TestKey.p256.certificate().split(separator: "\n", omittingEmptySubsequences: false).joined(
            separator: "%0A")
        #expect(try evidence([], nil, certificate: field).certificate == nil)
        #expect(try evidence(["X-Cert: "], nil, certificate: field).certificate == nil)
        #expect(try evidence(["x-cert: \(pem)"], nil, certificate: field).certificate != nil)
        #expect(try evidence(["X-Cert: \(pem)"], nil).certificate == nil)
        for lines in [["X-Cert: a"], ["X-Cert: \(pem)", "X-Cert: \(pem)"], ["X-Cert: ", "X-Cert: "]] {
            #expect(throws: Denial.certificateUnreadable) { try evidence(lines, nil, certificate: field) }
        }
    }
}
