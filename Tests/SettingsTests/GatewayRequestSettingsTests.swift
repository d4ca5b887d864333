import IDToken
import Testing
import Verification
@testable import Settings

/// How a policy learns the client's request, its certificate and its token.
@Suite struct GatewayRequestSettingsTests {
    private func policy(_ members: String) throws -> ForwardAuthPolicy {
        let provider = #"{ id: api, issuer: "https://op.example", audiences: [api], tokens: access }"#
        let policy = "{ id: api, providers: [api], \(members) }"
        let read = try settings("dpop: {}\nproviders: [\(provider)]\nforward_auth: { policies: [\(policy)] }\n")
        return try #require(read.forwardAuth.policies.first)
    }

    private func url(_ members: String) throws -> RequestURL? { try policy("request_url: { \(members) }").requestURL }

    @Test func `a request is named by headers, or is the question itself`() throws {
        let parts = "method: { header: X-M }, path: { header: X-P }"
        let byHeaders = RequestURL(origin: "https://a.example", method: .header("X-M"), path: .header("X-P"))
        #expect(try url("origin: https://a.example, \(parts)") == byHeaders)
        #expect(try url("origin: https://A.example:443/, \(parts)") == byHeaders)
        #expect(
            try url("origin: http://localhost:80, method: request, path: request")
                == RequestURL(origin: "http://localhost", method: .request, path: .request))
        for wrong in [
            parts, "origin: https://a.example", "origin: https://a.example, method: request",
            "origin: http://a.example, \(parts)", "origin: https://a.example/x, \(parts)",
            "origin: https://a.example//, \(parts)", "origin: https://a.example?x, \(parts)",
            "origin: a.example, \(parts)", "origin: https://a.example, method: GET, path: request",
            "origin: https://a.example, method: {}, path: request",
            "origin: https://a.example, method: { header: a b }, path: request",
            "origin: https://a.example, method: { header: X, other: Y }, path: request",
            "origin: https://a.example, method: request, path: [request]", "origin: https://a.example, \(parts), x: y",
        ] { #expect(throws: SettingsError.self, "\(wrong)") { try url(wrong) } }
    }

    @Test func `a certificate is in one header`() throws {
        for form in CertificateForm.allCases {
            let read = try policy("client_certificate: { header: Client-Cert, form: \(form.rawValue) }")
            #expect(read.clientCertificate == CertificateField(header: "Client-Cert", form: form))
        }
        for wrong in ["header: a", "form: pem", "header: a, form: der", "header: a b, form: pem", ""] {
            #expect(throws: SettingsError.self) { try policy("client_certificate: { \(wrong) }") }
        }
    }

    @Test func `a token may be in several cookies, or in the handshake of a WebSocket`() throws {
        let read = try policy(
            """
            token: [{ cookie: session, chunked: true }, { cookie: other, chunked: false }, \
            { websocket_protocol: true, origins: ["https://app.example.com", "http://localhost:3000"] }]
            """)
        #expect(
            read.sources == [
                .cookie("session", isChunked: true), .cookie("other"),
                .webSocketProtocol(origins: ["https://app.example.com", "http://localhost:3000"]),
            ])
        for wrong in [
            "{ header: X, chunked: true }", "{ chunked: true }", "{ cookie: a, chunked: yes }",
            "{ websocket_protocol: true }", #"{ origins: ["https://a.example"] }"#,
            #"{ websocket_protocol: false, origins: ["https://a.example"] }"#,
            "{ websocket_protocol: true, origins: [] }",
            #"{ websocket_protocol: true, origins: ["https://A.example"] }"#,
            #"{ websocket_protocol: true, origins: ["https://a.example/"] }"#,
            #"{ websocket_protocol: true, origins: ["https://a.example:443"] }"#,
            #"{ websocket_protocol: true, origins: ["*"] }"#,
            #"{ cookie: a, websocket_protocol: true, origins: ["https://a.example"] }"#,
        ] { #expect(throws: SettingsError.self, "\(wrong)") { try policy("token: [\(wrong)]") } }
        #expect(throws: SettingsError.self) {
            try policy(#"strip_token: true, token: [{ websocket_protocol: true, origins: ["https://a.example"] }]"#)
        }
    }
}
