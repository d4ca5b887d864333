import Keys
import Synchronization
import Testing
import TestSupport

@Suite struct DiscoveredEndpointsTests {
    private func endpoints(_ members: String, allowingHTTP: Bool = false) throws -> DiscoveredEndpoints {
        let json = #"{"issuer":"https://a.example","jwks_uri":"https://a.example/keys"\#(members)}"#
        var rules = NetworkRules()
        rules.allowHTTP = allowingHTTP
        return try ProviderMetadata(Array(json.utf8), issuer: "https://a.example", under: rules).endpoints
    }

    @Test func `all that a document names`() throws {
        let found = try endpoints(
            """
            ,"authorization_endpoint":"https://a.example/authorize?a=b","token_endpoint":"https://A.example/token",
            "revocation_endpoint":"https://a.example/revoke","userinfo_endpoint":"https://a.example/user",
            "introspection_endpoint":"https://a.example/introspect","end_session_endpoint":"https://a.example/bye",
            "authorization_response_iss_parameter_supported":true,
            "pushed_authorization_request_endpoint":"https://a.example/par","require_signed_request_object":true,
            "require_pushed_authorization_requests":true
            """)
        #expect(found[.authorization]?.text == "https://a.example/authorize?a=b")
        #expect(found[.token]?.text == "https://a.example/token")
        #expect(found[.revocation]?.text == "https://a.example/revoke")
        #expect(found[.userInfo]?.text == "https://a.example/user")
        #expect(found[.introspection]?.text == "https://a.example/introspect")
        #expect(found[.endSession]?.text == "https://a.example/bye")
        #expect(found.sendsResponseIssuer)
        #expect(found[.pushedRequest]?.text == "https://a.example/par")
        #expect(found.requiresPushedRequests && found.requiresSignedRequests)
    }

    @Test func `those of clients with certificates, and all others`() throws {
        let found = try endpoints(
            """
            ,"token_endpoint":"https://a.example/token","userinfo_endpoint":"https://a.example/user",
            "device_authorization_endpoint":"https://a.example/device","registration_endpoint":"http://a.example/no",
            "service_documentation":"https://a.example/docs","pushed_authorization_request_endpoint":"https://a.example/par",
            "mtls_endpoint_aliases":{"token_endpoint":"https://m.example/token","userinfo_endpoint":"https://m.example/user",
            "device_authorization_endpoint":"https://a.example/device","revocation_endpoint":7}
            """)
        #expect(found.url(.token, presentingCertificate: true)?.text == "https://m.example/token")
        #expect(found.url(.userInfo, presentingCertificate: true)?.text == "https://m.example/user")
        #expect(found.url(.pushedRequest, presentingCertificate: true)?.text == "https://a.example/par")
        #expect(found.url(.revocation, presentingCertificate: true) == nil)
        #expect(found.url(.introspection, presentingCertificate: true) == nil)
        #expect(
            found.allButUserInfo.map(\.text).sorted() == [
                "https://a.example/device", "https://a.example/par", "https://a.example/token",
                "https://m.example/token",
            ])
        #expect(try endpoints("").allButUserInfo == [])
        #expect(try endpoints(#","mtls_endpoint_aliases":[]"#) == endpoints(""))
    }

    @Test(arguments: [
        "", #","token_endpoint":null"#, #","token_endpoint":1"#, #","token_endpoint":"""#,
        #","token_endpoint":"/token""#, #","token_endpoint":"http://a.example/token""#,
        #","token_endpoint":"https://u@a.example/""#, #","token_endpoint":"https://a.example/#f""#,
        #","token_endpoint":["https://a.example/token"]"#, #","authorization_response_iss_parameter_supported":"true""#,
    ])
    func `what can't be used is not there, and the keys still are`(members: String) throws {
        let found = try endpoints(members + #","revocation_endpoint":"https://a.example/revoke""#)
        #expect(found[.token] == nil)
        #expect(found[.revocation] != nil)
        #expect(!found.sendsResponseIssuer && !found.requiresPushedRequests && !found.requiresSignedRequests)
    }

    @Test func `http is used only where fetches may`() throws {
        let members = #","token_endpoint":"http://a.example/token""#
        #expect(try endpoints(members, allowingHTTP: true)[.token]?.text == "http://a.example/token")
    }

    @Test func `they come with the keys`() async throws {
        let keys = text(jwkSet([TestKey.p256.jwk()]))
        let address = Mutex("")
        try await RawServer.run(answering: { head in
            let discovery = address.withLock { address in
                #"{"issuer":"\#(address)","jwks_uri":"\#(address)/keys","token_endpoint":"\#(address)/token"}"#
            }
            return .bytes(RawServer.response(head.hasPrefix("GET /keys ") ? keys : discovery))
        }) { server async throws in
            address.withLock { $0 = server.address("") }
            for (location, token) in [
                (
                    KeyLocation.Network.discovery(
                        address: server.address("/discovery"), issuer: server.address(""), readsAlgorithms: true),
                    server.address("/token")
                ),
                (.jwkSet(address: server.address("/keys")), nil),
            ] {
                let fetcher = ProviderKeyFetcher(location, documents: .onLoopback())
                #expect(try await fetcher.fetch(.reload).endpoints?[.token]?.text == token)
            }
        }
    }
}
