import Bytes
import IDToken
import JOSE
import OAuth
import OpenSSL
@testable import SignIns
import Testing
import Verification

/// Sign-ins in a browser: what begins one, and which responses can finish it.
@Suite struct BrowserSignInTests {
    private static let callback = "https://example.com/callback"
    private static let endpoint = AuthorizationEndpoint(
        url: "https://idp.example/authorize?tenant=1", sendsResponseIssuer: false)

    @Test(arguments: ["nonce=x", "a=b&response_mode=fragment", "%73tate=", "request_uri=x", "x=%zz&%zz=1"])
    func `an endpoint whose own query has our parameters is none`(query: String) {
        #expect(AuthorizationEndpoint(url: "https://idp.example/a?" + query, sendsResponseIssuer: false) == nil)
    }
    private static let now = UnixTime(seconds: 1_700_000_000)

    private static func policy(_ change: (inout ProviderPolicy) -> Void = { _ in }) -> ProviderPolicy {
        var policy = ProviderPolicy(id: "oidc", issuer: "https://idp.example", audiences: ["app", "web"])
        change(&policy)
        return policy
    }

    private static func rules(_ change: (inout GrantRules) -> Void = { _ in }) -> GrantRules {
        var web = OAuthClient(id: "web")
        web.redirectURIs = ["https://example.com/other", callback]
        var rules = GrantRules(clients: [OAuthClient(id: "app"), web], quirks: [])
        change(&rules)
        return rules
    }

    private static func begin(
        _ members: String = "", policy: ProviderPolicy = policy(), rules: GrantRules? = rules(),
        endpoint: AuthorizationEndpoint? = endpoint
    ) throws -> (begun: BegunSignIn, opened: OpenedSignIn) {
        let body = #"{"provider": "oidc", "redirect_uri": "\#(callback)"\#(members)}"#
        let sealer = try SignInSealer(try HandleKeys.made())
        let begun = try BegunSignIn(
            try BeginRequest(try JSONObject(Array(body.utf8))), under: policy, rules, endpoint, now: now,
            sealedBy: sealer, try DigestContext())
        return (begun, try #require(try sealer.open(begun.handle)))
    }

    private static func parameters(of url: String) -> [String: String] {
        var parameters: [String: String] = [:]
        for pair in url.split(separator: "?")[1].split(separator: "&") {
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            let value = percentDecoded(parts[1]).map { String(decoding: $0, as: UTF8.self) }
            #expect(parameters.updateValue(value ?? "", forKey: parts[0]) == nil)
        }
        return parameters
    }

    // MARK: Begin

    @Test(arguments: AuthorizationRequestForm.allCases, [AuthorizationRequestForm.plain, .pushed])
    func `the client's form comes before the one that the document requires`(
        form: AuthorizationRequestForm, required: AuthorizationRequestForm
    ) throws {
        let endpoint = AuthorizationEndpoint(
            url: "https://idp.example/authorize", sendsResponseIssuer: false, requiredForm: required)
        let chosen = try Self.begin(rules: Self.rules { $0.clients[1].requestForm = form }, endpoint: endpoint).begun
        #expect((chosen.authorizationURL == nil) == (form != .plain))
        let usual = try Self.begin(endpoint: endpoint).begun
        #expect((usual.authorizationURL == nil) == (required != .plain) && usual.state != nil)
    }

    @Test func `nothing begins while it is not known what the document requires`() throws {
        let unread = AuthorizationEndpoint(
            url: "https://idp.example/authorize", sendsResponseIssuer: false, requiredForm: nil)
        #expect(throws: Problem.endpointUnknown) { try Self.begin(endpoint: unread) }
        let chosen = try Self.begin(rules: Self.rules { $0.clients[1].requestForm = .plain }, endpoint: unread).begun
        #expect(chosen.authorizationURL != nil)
    }

    @Test func `a template is no audience of a signed request`() throws {
        let endpoint = AuthorizationEndpoint(
            url: "https://idp.example/authorize", sendsResponseIssuer: false, requiredForm: .signed)
        let policy = Self.policy { $0.issuer = "https://idp.example/{tid}" }
        #expect(throws: Problem.requestAudienceUnknown) { try Self.begin(policy: policy, endpoint: endpoint) }
    }

    @Test func `with a profile, the response must name the issuer`() throws {
        let opened = try Self.begin(rules: Self.rules { $0.clients[1].profile = .fapi2 }).opened
        guard case .browser(let browser) = opened.content.kind else { throw Problem.notFound }
        #expect(browser.requiresResponseIssuer)
    }

    @Test func `the URL has what ties the code to the sign-in`() throws {
        let (begun, opened) = try Self.begin(
            #", "max_age": 60, "prompt": "login", "login_hint": "a b&c=d", "scopes": ["email"]"#)
        guard case .browser(let browser) = opened.content.kind else { throw Problem.notFound }
        let url = try #require(begun.authorizationURL)
        #expect(url.hasPrefix("https://idp.example/authorize?tenant=1&response_type=code&client_id=web&"))
        #expect(url.contains("login_hint=a%20b%26c%3Dd"))
        let verifier = try #require(browser.verifier)
        #expect(
            Self.parameters(of: url) == [
                "tenant": "1", "response_type": "code", "client_id": "web", "redirect_uri": Self.callback,
                "scope": "openid email", "state": browser.state.text, "nonce": try #require(browser.nonce?.text),
                "code_challenge": try verifier.challenge(try DigestContext()), "code_challenge_method": "S256",
                "max_age": "60", "prompt": "login", "login_hint": "a b&c=d",
            ])
        #expect(begun.state == browser.state.text && browser.redirectURI == Self.callback)
        #expect(opened.content.audience == "web")
    }

    @Test func `secrets of two sign-ins have nothing in common`() throws {
        let (one, other) = (try Self.begin().opened.content.kind, try Self.begin().opened.content.kind)
        guard case .browser(let one) = one, case .browser(let other) = other else { throw Problem.notFound }
        #expect(one.state != other.state && one.nonce != other.nonce && one.verifier != other.verifier)
    }

    @Test func `Apple posts its response where scopes are asked for, and knows no openid`() throws {
        let apple = Self.rules {
            $0.quirks = [.noOpenIDScope, .formPostForScopes]
            $0.clients[1].scopes = ["name", "email"]
        }
        let policy = Self.policy { $0.nonce.accepted = [.sha256Hex] }
        let (begun, _) = try Self.begin(policy: policy, rules: apple)
        let parameters = Self.parameters(of: try #require(begun.authorizationURL))
        #expect(parameters["scope"] == "name email" && parameters["response_mode"] == "form_post")
        let digest = try DigestContext().digest(Array(try #require(begun.nonce).text.utf8).span, with: .sha256)
        #expect(parameters["nonce"] == String(hexadecimal: digest.span) && parameters["nonce"] == begun.nonce?.digest)
        let bare = Self.parameters(
            of: try #require(try Self.begin(#", "scopes": []"#, rules: apple).begun.authorizationURL))
        #expect(bare["scope"] == nil && bare["response_mode"] == nil)
        #expect(throws: Problem.self) { try Self.begin(#", "response_mode": "query""#, rules: apple) }
    }

    @Test func `the settings decide whether a sign-in can begin`() throws {
        func problem(
            _ members: String = "", policy: ProviderPolicy = Self.policy(), rules: GrantRules? = Self.rules(),
            endpoint: AuthorizationEndpoint? = Self.endpoint
        ) -> Problem? {
            do {
                _ = try Self.begin(members, policy: policy, rules: rules, endpoint: endpoint)
                return nil
            } catch {
                return error as? Problem
            }
        }
        #expect(problem(#", "audience": "elsewhere""#) == .audienceNotConfigured)
        #expect(problem(rules: nil) == .clientNotConfigured)
        #expect(problem(#", "audience": "app""#) == .redirectURINotConfigured)
        #expect(problem(rules: Self.rules { $0.clients.removeLast() }) == .redirectURINotConfigured)
        #expect(problem(#", "audience": "web""#, rules: Self.rules { $0.clients.removeLast() }) == .clientNotConfigured)
        #expect(problem(rules: Self.rules { $0.refusesBrowserSignIns = true }) == .signInNotSupported)
        #expect(problem(policy: Self.policy { $0.issuesTokensOfSignIns = false }) == .signInNotSupported)
        #expect(problem(endpoint: nil) == .providerUnavailable(retryAfterSeconds: 2))
        let nonceless = Self.policy { $0.nonce.isChecked = false }
        #expect(problem(policy: nonceless) == nil)
        #expect(problem(policy: nonceless, rules: Self.rules { $0.usesPKCE = false }) == .signInNotSupported)
        let unbound = Self.rules {
            $0.usesPKCE = false
            $0.allowsUnboundCodes = true
        }
        #expect(problem(policy: nonceless, rules: unbound) == nil)
        #expect(try Self.begin(policy: nonceless).begun.nonce == nil)
    }

    // MARK: Responses

    /// What a finish of a sign-in with this response does next.
    private static func plan(
        _ response: String, of opened: OpenedSignIn, members: String = "", policy: ProviderPolicy = policy(),
        rules: GrantRules? = rules(), sendsResponseIssuer: Bool? = false
    ) throws -> FinishPlan {
        let body = #"{"sign_in": "x", "response": \#(response)\#(members)}"#
        return try FinishPlan(
            opened, try FinishRequest(try JSONObject(Array(body.utf8))),
            under: FinishRules(policy: policy, grants: rules, sendsResponseIssuer: sendsResponseIssuer))
    }

    private static func problem(_ body: () throws -> some Any) -> Problem? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? Problem
        }
    }

    @Test func `a response is checked before anything is used up`() throws {
        let (begun, opened) = try Self.begin(#", "context": "/back""#)
        let state = try #require(begun.state)
        func problem(_ response: String, members: String = "", requiresIssuer: Bool? = false) -> Problem? {
            Self.problem {
                try Self.plan(
                    response.replacing("STATE", with: state), of: opened, members: members,
                    sendsResponseIssuer: requiresIssuer)
            }
        }
        #expect(problem(#"{"state": "STATE", "code": "c"}"#) == nil)
        #expect(
            problem(#"{"state": "STATE", "code": "c", "iss": "https://idp.example", "id_token": "x", "y": ""}"#) == nil)
        for response in [#"{"code": "c"}"#, #"{"state": "", "code": "c"}"#, #"{"state": "STATEx", "code": "c"}"#] {
            #expect(problem(response) == .stateMismatch)
        }
        // Also of a response that says that the user cancelled: it may be somebody else's.
        #expect(problem(#"{"state": "other", "error": "access_denied"}"#) == .stateMismatch)
        #expect(
            problem(#"{"state": "STATE", "code": "c"}"#, members: #", "redirect_uri": "https://example.com/callback/""#)
                == .redirectURIMismatch)
        #expect(
            problem(#"{"state": "STATE", "code": "c"}"#, members: #", "redirect_uri": "\#(Self.callback)""#) == nil)
        #expect(
            problem(#"{"state": "STATE", "code": "c", "iss": "https://evil.example"}"#)
                == .responseIssuerMismatch(.notTheProviders))
        #expect(
            problem(#"{"state": "STATE", "code": "c"}"#, requiresIssuer: true)
                == .responseIssuerMismatch(.missing))
        #expect(problem(#"{"state": "STATE", "code": "c"}"#, requiresIssuer: nil) == .endpointUnknown)
        #expect(
            problem(#"{"state": "STATE", "error": "access_denied"}"#, requiresIssuer: true)
                == .responseIssuerMismatch(.missing))
        #expect(problem(#"{"state": "STATE", "code": "c", "user": "no JSON"}"#) == nil)
        for name in ["access_denied", "user_cancelled_authorize", "user_cancelled_login"] {
            #expect(problem(#"{"state": "STATE", "error": "\#(name)"}"#) == .signInDenied(context: "/back"))
        }
        #expect(
            problem(#"{"state": "STATE", "error": "server_error", "code": "c"}"#)
                == .signInRefused(.serverError, context: "/back"))
        #expect(problem(#"{"state": "STATE", "error": "my own"}"#) == .signInRefused(.other, context: "/back"))
        for response in [
            #"{"state": "STATE"}"#, #"{"state": "STATE", "code": ""}"#, #"{"state": "STATE", "code": "ü"}"#,
            #"{"state": 1}"#, "[]", "\"\"",
        ] {
            #expect(problem(response)?.code == "request_invalid", "\(response)")
        }
    }

    @Test func `what only the other kind of sign-in has is refused`() throws {
        let (begun, opened) = try Self.begin()
        let response = #"{"state": "\#(try #require(begun.state))", "code": "c"}"#
        for members in [
            #", "id_token": "x""#, #", "code": "x""#, #", "access_token": "x""#, #", "user": {"name": {}}"#,
        ] {
            #expect(
                Self.problem { try Self.plan(response, of: opened, members: members) }?.code == "request_invalid")
        }
        #expect(Self.problem { try Self.plan("null", of: opened) }?.code == "request_invalid")
    }

    @Test func `a sign-in that began before its client had a profile can't be finished with it`() throws {
        let strict = Self.rules { $0.clients[1].profile = .fapi2 }
        func problem(_ sign: (begun: BegunSignIn, opened: OpenedSignIn), _ rules: GrantRules) throws -> Problem? {
            let issuer = Self.policy().issuer
            let response = #"{"state": "\#(try #require(sign.begun.state))", "code": "c", "iss": "\#(issuer)"}"#
            return Self.problem { try Self.plan(response, of: sign.opened, rules: rules) }
        }
        let (before, after) = (try Self.begin(), try Self.begin(rules: strict))
        #expect(try problem(before, Self.rules()) == nil)
        #expect(try problem(before, strict) == .signInInvalid)
        #expect(try problem(after, strict) == nil)
        #expect(try problem(after, Self.rules()) == nil)
    }

    @Test func `a sign-in ends when its client, redirect URI or binding is configured no longer`() throws {
        let (begun, opened) = try Self.begin()
        let response = #"{"state": "\#(try #require(begun.state))", "code": "c"}"#
        func problem(_ rules: GrantRules?) -> Problem? {
            Self.problem { try Self.plan(response, of: opened, rules: rules) }
        }
        #expect(problem(Self.rules()) == nil)
        #expect(problem(nil) == .signInInvalid)
        #expect(problem(Self.rules { $0.clients.removeLast() }) == .signInInvalid)
        #expect(problem(Self.rules { $0.clients[1].redirectURIs = [] }) == .signInInvalid)
        let elsewhere = Self.policy { $0.issuer = "https://other.example" }
        #expect(Self.problem { try Self.plan(response, of: opened, policy: elsewhere) } == .signInInvalid)
        let nonceless = Self.policy { $0.nonce.isChecked = false }
        let unbound = Self.rules {
            $0.usesPKCE = false
            $0.allowsUnboundCodes = true
        }
        let (free, loose) = try Self.begin(policy: nonceless, rules: unbound)
        let answer = #"{"state": "\#(try #require(free.state))", "code": "c"}"#
        #expect(Self.problem { try Self.plan(answer, of: loose, policy: nonceless, rules: unbound) } == nil)
        #expect(
            Self.problem { try Self.plan(answer, of: loose, policy: nonceless, rules: Self.rules()) } == .signInInvalid)
        // Tied by its nonce alone, which is then no longer checked.
        let (noncy, tied) = try Self.begin(rules: Self.rules { $0.usesPKCE = false })
        let reply = #"{"state": "\#(try #require(noncy.state))", "code": "c"}"#
        #expect(Self.problem { try Self.plan(reply, of: tied) } == nil)
        #expect(Self.problem { try Self.plan(reply, of: tied, policy: nonceless) } == .signInInvalid)
    }
}
