import IDToken
import SignInFixtures
import TestSupport

/// One access token of each provider whose access tokens can be verified.
extension SentAccessToken {
    static let all: [SentAccessToken] = [
        rfc9068, auth0, auth0OfRFC9068, authentik, azureB2C, cloudflareAccess, cognito, entraExternal, googleIAP,
        keycloak,
        kinde, kubernetes, microsoft, microsoftVersion1, okta, ory, pomerium, spring, supabase, workOSAuthKit, zitadel,
    ]

    private static let tenant = GoldenToken.tenant

    /// The claims of RFC 9068, section 2.2, figure 2, with the times of these tests.
    static let rfc9068 = SentAccessToken(
        .oidc, ["issuer": "https://authorization-server.example.com/"], audiences: ["https://rs.example.com/"],
        header: #","typ":"at+JWT""#,
        claims: """
            {"iss":"https://authorization-server.example.com/","sub":"5ba552d67","aud":"https://rs.example.com/",
            "exp":1700003600,"iat":1700000000,"jti":"dbe39bf3a3ba4238a513f51d6e1691c4","client_id":"s6BhdRkqt3",
            "scope":"openid profile reademail","roles":["reader"],"groups":["staff"],
            "entitlements":[{"value":"archive","display":"The archive"},"print"]}
            """)

    static let auth0 = SentAccessToken(
        .auth0, ["domain": "example.eu.auth0.com"], audiences: ["https://api.example.com"], header: #","typ":"JWT""#,
        claims: """
            {"iss":"https://example.eu.auth0.com/","sub":"auth0|5f7c8ec7c33c6c004bbafe82",
            "aud":["https://api.example.com","https://example.eu.auth0.com/userinfo"],"iat":1700000000,
            "exp":1700086400,"azp":"my_client_id","scope":"openid read:orders","permissions":["read:orders"]}
            """)

    static let auth0OfRFC9068 = SentAccessToken(
        .auth0, ["domain": "example.eu.auth0.com"], audiences: ["https://api.example.com"],
        header: #","typ":"at+jwt""#,
        claims: """
            {"iss":"https://example.eu.auth0.com/","sub":"my_client_id@clients","aud":"https://api.example.com",
            "iat":1700000000,"exp":1700086400,"client_id":"my_client_id","jti":"j1","scope":"read:orders"}
            """)

    static let authentik = SentAccessToken(
        .authentik, ["issuer": "https://sso.example.com/application/o/shop/"], audiences: ["shop-client"],
        header: #","typ":"JWT""#,
        claims: """
            {"iss":"https://sso.example.com/application/o/shop/","sub":"9f2d","aud":"shop-client","exp":1700000300,
            "iat":1700000000,"auth_time":1700000000,"acr":"goauthentik.io/providers/oauth2/default","amr":["pwd"],
            "nonce":"n1","sid":"s1","email":"jane@example.com","email_verified":true,"groups":["staff"],
            "azp":"shop-client","uid":"ZdGkq3tUwV"}
            """)

    static let kinde = SentAccessToken(
        .kinde, ["domain": "example.kinde.com"], audiences: ["https://api.example.com"], header: #","typ":"JWT""#,
        claims: """
            {"aud":["https://api.example.com"],"azp":"shop-client","exp":1700086400,"gty":["authorization_code"],
            "iat":1700000000,"iss":"https://example.kinde.com","jti":"j1","org_code":"org_1","permissions":["read:orders"],
            "scp":["openid","email"],"sub":"kp_1"}
            """)

    static let spring = SentAccessToken(
        .springAuthorizationServer, ["issuer": "https://auth.example.com"], audiences: ["shop-client"],
        claims: """
            {"sub":"jane","aud":"shop-client","nbf":1700000000,"scope":["openid","orders.read"],
            "iss":"https://auth.example.com","exp":1700000300,"iat":1700000000,"jti":"j1"}
            """)

    static let workOSAuthKit = SentAccessToken(
        .workOSAuthKit, ["client": "client_01"], audiences: [],
        claims: """
            {"iss":"https://api.workos.com/user_management/client_01","sub":"user_01HBEQKA6K4QJAS93VPE39W1JT",
            "org_id":"org_01","role":"member","roles":["member"],"permissions":["posts:read"],"sid":"session_01",
            "jti":"j1","exp":1700000300,"iat":1700000000}
            """)

    static let azureB2C = SentAccessToken(
        .azureB2C, ["subdomain": "example", "tenant": tenant, "policy": "B2C_1_sign_in"], audiences: ["api-guid"],
        header: #","typ":"JWT""#,
        claims: """
            {"iss":"https://example.b2clogin.com/\(tenant)/v2.0/","exp":1700003600,"nbf":1700000000,"aud":"api-guid",
            "sub":"884408e1-2918-4cz0-b12d-3aa027d7563b","tfp":"B2C_1_sign_in","scp":"read write","azp":"app-guid",
            "ver":"1.0","iat":1700000000}
            """)

    static let cognito = SentAccessToken(
        .cognito, ["pool": "eu-west-1_AbCdEfGhI"], audiences: [], parties: ["djc98u3jiedmi283eu928"],
        claims: """
            {"sub":"aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee","cognito:groups":["admins"],
            "iss":"https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEfGhI","client_id":"djc98u3jiedmi283eu928",
            "origin_jti":"o1","event_id":"e1","token_use":"access","scope":"openid orders/read","auth_time":1700000000,
            "exp":1700003600,"iat":1700000000,"jti":"j1","username":"jane"}
            """)

    static let entraExternal = SentAccessToken(
        .entraExternal, ["subdomain": "example", "tenant": tenant], audiences: ["api-guid"], header: #","typ":"JWT""#,
        claims: """
            {"aud":"api-guid","iss":"https://\(tenant).ciamlogin.com/\(tenant)/v2.0","iat":1700000000,"nbf":1700000000,
            "exp":1700003600,"azp":"app-guid","azpacr":"0","scp":"Orders.Read","sub":"pairwise","tid":"\(tenant)",
            "ver":"2.0"}
            """)

    static let keycloak = SentAccessToken(
        .keycloak, ["issuer": "https://kc.example/realms/shop"], audiences: ["orders-api"], header: #","typ":"JWT""#,
        claims: """
            {"exp":1700000300,"iat":1700000000,"auth_time":0,"jti":"j1","iss":"https://kc.example/realms/shop",
            "aud":["orders-api","account"],"sub":"9a8b7c6d-1111-2222-3333-444455556666","typ":"Bearer","azp":"shop-app",
            "sid":"s1","acr":"1","realm_access":{"roles":["offline_access","clerk"]},
            "scope":"openid email orders","email_verified":true,"email":"jane@example.com",
            "preferred_username":"jane"}
            """)

    static let kubernetes = SentAccessToken(
        .kubernetes, ["issuer": "https://kubernetes.default.svc.cluster.local"], audiences: ["orders-api"],
        callers: ClaimRule(ClaimPath("sub"), .oneOf, ["system:serviceaccount:shop:checkout"]),
        claims: """
            {"aud":["orders-api"],"exp":1700003600,"iat":1700000000,"nbf":1700000000,"jti":"j1",
            "iss":"https://kubernetes.default.svc.cluster.local",
            "kubernetes.io":{"namespace":"shop","serviceaccount":{"name":"checkout","uid":"u1"}},
            "sub":"system:serviceaccount:shop:checkout"}
            """)

    static let microsoft = SentAccessToken(
        .microsoft, ["tenant": tenant], audiences: ["api-guid"], header: #","typ":"JWT""#,
        claims: """
            {"aud":"api-guid","iss":"https://login.microsoftonline.com/\(tenant)/v2.0","iat":1700000000,
            "nbf":1700000000,"exp":1700003600,"azp":"app-guid","azpacr":"1","name":"Jane","oid":"o1",
            "roles":["Orders.Manager"],"groups":["g1"],"scp":"Orders.Read Orders.Write","sub":"pairwise",
            "tid":"\(tenant)","uti":"u1","ver":"2.0"}
            """)

    static let microsoftVersion1 = SentAccessToken(
        .microsoftVersion1, ["tenant": tenant], audiences: ["api://orders"], header: #","typ":"JWT""#,
        claims: """
            {"aud":"api://orders","iss":"https://sts.windows.net/\(tenant)/","iat":1700000000,"nbf":1700000000,
            "exp":1700003600,"appid":"app-guid","appidacr":"1","idp":"https://sts.windows.net/\(tenant)/",
            "oid":"o1","roles":["Orders.Sync"],"sub":"o1","tid":"\(tenant)","ver":"1.0"}
            """)

    static let okta = SentAccessToken(
        .okta, ["domain": "example.okta.com", "authorization_server": "default"], audiences: ["api://default"],
        claims: """
            {"ver":1,"jti":"AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE",
            "iss":"https://example.okta.com/oauth2/default","aud":"api://default","sub":"jane@example.com",
            "iat":1700000000,"exp":1700003600,"cid":"0oabskvc6442nkvQO0h7","uid":"00u5t60iloOHN9pBi0h7",
            "scp":["openid","orders"],"groups":["Everyone"]}
            """)

    static let ory = SentAccessToken(
        .ory, ["issuer": "https://example.projects.oryapis.com"], audiences: ["orders-api"], header: #","typ":"JWT""#,
        claims: """
            {"aud":["orders-api"],"client_id":"c1","exp":1700003600,"ext":{},"iat":1700000000,
            "iss":"https://example.projects.oryapis.com","jti":"j1","nbf":1700000000,"scp":["orders"],"sub":"user"}
            """)

    static let supabase = SentAccessToken(
        .supabase, ["project": "abcdefghijklmnopqrst"], audiences: ["authenticated"], header: #","typ":"JWT""#,
        claims: """
            {"iss":"https://abcdefghijklmnopqrst.supabase.co/auth/v1","sub":"u1","aud":"authenticated",
            "exp":1700003600,"iat":1700000000,"email":"jane@example.com","role":"authenticated","session_id":"s1"}
            """)

    static let zitadel = SentAccessToken(
        .zitadel, ["issuer": "https://example.zitadel.cloud"], audiences: ["project"], header: #","typ":"JWT""#,
        claims: """
            {"aud":["client@shop","project"],"exp":1700003600,"iat":1700000000,"nbf":1700000000,
            "iss":"https://example.zitadel.cloud","jti":"j1","sub":"165467338479501569",
            "urn:zitadel:iam:org:project:roles":{"clerk":{"1":"example.com"},"reader":{"1":"example.com"}}}
            """)
}
