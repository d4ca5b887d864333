@testable import DevProvider
import IDToken
import JOSE
import Testing

/// Signing out at a development provider.
@Suite struct EndSessionTests {
    private static let back = "https://example.com/signed-out"

    private static func request(
        _ members: KeyValuePairs<String, String>, to provider: EmulatedProvider, after seconds: Int64 = 0
    ) throws -> EndSessionRequest {
        try EndSessionRequest(try Emulated.form(members), to: provider, now: Emulated.now + seconds)
    }

    private static func token(_ provider: EmulatedProvider) throws -> String {
        let claims = try provider.idTokenClaims(
            EmulatedProvider.TokenRequest(person: Emulated.kim, clientID: "client"), now: Emulated.now)
        return try provider.keys.sign(claims, type: nil)
    }

    @Test func `without parameters nobody is named`() throws {
        let request = try Self.request([:], to: try Emulated.provider(.oidc))
        #expect(request.client == nil && request.subject == nil && request.destination == nil)
    }

    @Test func `an expired hint names the person and the client`() throws {
        let provider = try Emulated.provider(.oidc)
        let request = try Self.request(
            ["id_token_hint": try Self.token(provider)], to: provider, after: 10_000_000)
        #expect(try request.subject == provider.subject(of: Emulated.kim))
        #expect(request.client?.id == "client")
    }

    @Test func `the browser comes back with the state`() throws {
        let provider = try Emulated.provider(.oidc)
        func destination(_ members: KeyValuePairs<String, String>) throws -> String? {
            try Self.request(members, to: provider).destination
        }
        let loopback = "http://127.0.0.1:5000/bye"
        #expect(
            try destination(["client_id": "client", "post_logout_redirect_uri": loopback, "state": "a%26b"])
                == loopback + "?state=a%26b")
        #expect(
            try destination(["client_id": "client", "post_logout_redirect_uri": loopback + "%3Fx%3D1", "state": "s"])
                == loopback + "?x=1&state=s")
        #expect(try destination(["client_id": "client", "post_logout_redirect_uri": loopback]) == loopback)
    }

    @Test func `what a provider refuses`() throws {
        let provider = try Emulated.provider(.oidc)
        let other = try Emulated.provider(.oidc) { $0.issuer += "/other" }
        let refused: [KeyValuePairs<String, String>] = [
            ["client_id": "stranger"], ["id_token_hint": "junk"], ["id_token_hint": try Self.token(other)],
            ["client_id": "client", "post_logout_redirect_uri": Self.back],
            ["post_logout_redirect_uri": "http://127.0.0.1/"],
        ]
        for members in refused {
            #expect(throws: DevRequestError.self) { try Self.request(members, to: provider) }
        }
    }

    @Test func `the document names the endpoint where the provider has one`() throws {
        func endpoint(_ preset: ProviderPreset) throws -> JSONTree? {
            try Emulated.provider(preset).discoveryDocument(ofTenant: nil).object?["end_session_endpoint"]
        }
        #expect(try endpoint(.oidc) == .string("http://127.0.0.1:9400/p/logout"))
        #expect(try endpoint(.apple) == nil && endpoint(.google) == nil)
    }
}
