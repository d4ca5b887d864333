internal import IDToken
internal import TestSupport

extension GoldenToken {
    package static let all = [
        apple, auth0, authentik, azureB2C, clerkSession, clerkIDToken, cognito, dex, eSignet, entraExternal, facebook,
        firebase, firebaseSessionCookie, gitHubActions, gitLab, google, itsme, kakao, keycloak, kinde, kubernetes, line,
        linkedIn, loginGov, microsoft, microsoftConsumer, microsoftVersion1, oidc, okta, ory, proConnect, salesforce,
        singpass, slack, spring, supabase, twitch, workOSAuthKit, yahooJapan, zitadel,
    ]

    package static let tenant = "11111111-2222-3333-4444-55555555aaaa"

    package static let apple = GoldenToken(
        preset: .apple, audiences: ["com.example.app", "com.example.web"],
        claims: """
            {"iss":"https://appleid.apple.com","aud":"com.example.app","exp":1700086400,"iat":1700000000,
            "sub":"820417.faa325acbc78e1be1668ba852d492d8a.0219",
            "nonce":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "c_hash":"8m8Vr8xJ9kQ0pY0h6vJ8Fw","email":"abc123@privaterelay.appleid.com","email_verified":"true",
            "is_private_email":"true","auth_time":1700000000,"nonce_supported":true,"real_user_status":2}
            """,
        nonce: "test",
        identity: [
            "issuer": "https://appleid.apple.com", "subject": "820417.faa325acbc78e1be1668ba852d492d8a.0219",
            "email": "abc123@privaterelay.appleid.com", "email_verified": "true", "email_trust": "authoritative",
            "is_private_email": "true", "real_user_status": "likely_real",
        ])

    package static let auth0 = GoldenToken(
        preset: .auth0, arguments: ["domain": "example.eu.auth0.com"], audiences: ["aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"],
        headerMembers: #","typ":"JWT""#,
        claims: """
            {"given_name":"Ada","family_name":"Lovelace","nickname":"ada","name":"Ada Lovelace",
            "picture":"https://s.gravatar.com/avatar/0","updated_at":"2023-11-14T22:13:20.000Z",
            "email":"ada@example.com","email_verified":true,"iss":"https://example.eu.auth0.com/",
            "aud":"aBcDeFgHiJkLmNoPqRsTuVwXyZ012345","iat":1700000000,"exp":1700036000,
            "sub":"google-oauth2|110169484474386276334","sid":"s1","nonce":"n-0S6","https://example.com/roles":["a"]}
            """,
        nonce: "n-0S6",
        identity: [
            "issuer": "https://example.eu.auth0.com/", "subject": "google-oauth2|110169484474386276334",
            "email": "ada@example.com", "email_verified": "true", "email_trust": "verified", "name": "Ada Lovelace",
            "given_name": "Ada", "family_name": "Lovelace", "name_source": "token",
            "picture": "https://s.gravatar.com/avatar/0",
        ])

    package static let azureB2C = GoldenToken(
        preset: .azureB2C, arguments: ["subdomain": "example", "tenant": tenant, "policy": "B2C_1_sign_in"],
        audiences: ["90c0fe63-bcf2-44d5-8fb7-b8bbc0b29dc6"], headerMembers: #","typ":"JWT""#,
        claims: """
            {"exp":1700003600,"nbf":1700000000,"ver":"1.0","iss":"https://example.b2clogin.com/\(tenant)/v2.0/",
            "sub":"884408e1-2918-4c07-b2d8-aa0e0f3a1c11","aud":"90c0fe63-bcf2-44d5-8fb7-b8bbc0b29dc6",
            "nonce":"defaultNonce","iat":1700000000,"auth_time":1700000000,"name":"Ada Lovelace","given_name":"Ada",
            "emails":["ada@example.com"],"tfp":"B2C_1_sign_in"}
            """,
        nonce: "defaultNonce",
        identity: [
            "issuer": "https://example.b2clogin.com/\(tenant)/v2.0/",
            "subject": "884408e1-2918-4c07-b2d8-aa0e0f3a1c11", "email": "ada@example.com", "email_trust": "unverified",
            "name": "Ada Lovelace", "given_name": "Ada", "name_source": "token",
        ])

    package static let clerkSession = GoldenToken(
        preset: .clerk, arguments: ["domain": "clerk.example.com"], authorizedParties: ["https://example.com"],
        headerMembers: #","typ":"JWT","cat":"cl_B7d4PD111AAA""#,
        claims: """
            {"azp":"https://example.com","exp":1700000060,"fva":[0,-1],"iat":1700000000,
            "iss":"https://clerk.example.com","nbf":1699999990,"o":{"id":"org_123","rol":"admin","slg":"example"},
            "sid":"sess_123","sts":"active","sub":"user_123","v":2}
            """,
        now: 1_700_000_030,
        identity: ["issuer": "https://clerk.example.com", "subject": "user_123"])

    package static let clerkIDToken = GoldenToken(
        preset: .clerk, arguments: ["domain": "clerk.example.com"], audiences: ["d8g7kQ"],
        claims: """
            {"aud":"d8g7kQ","iss":"https://clerk.example.com","sub":"user_123","iat":1700000000,"exp":1700086400,
            "jti":"j1","email":"ada@example.com","email_verified":true,"family_name":"Lovelace","given_name":"Ada",
            "name":"Ada Lovelace","preferred_username":"ada","picture":"https://img.clerk.com/a",
            "private_metadata":{"plan":"gold"}}
            """,
        identity: [
            "issuer": "https://clerk.example.com", "subject": "user_123", "email": "ada@example.com",
            "email_verified": "true", "email_trust": "verified", "name": "Ada Lovelace", "given_name": "Ada",
            "family_name": "Lovelace", "name_source": "token", "preferred_username": "ada",
            "picture": "https://img.clerk.com/a",
        ])

    package static let cognito = GoldenToken(
        preset: .cognito, arguments: ["pool": "eu-west-1_AbCdEfGhI"], audiences: ["2b7c5f0example"],
        claims: """
            {"at_hash":"k3F9sK8vXn4pQ1r7t9zA2Q","sub":"a1b2c3d4-0000-1111-2222-333344445555",
            "cognito:groups":["staff"],"email_verified":true,
            "iss":"https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEfGhI","cognito:username":"ada",
            "origin_jti":"o1","aud":"2b7c5f0example","event_id":"e1","token_use":"id","auth_time":1700000000,
            "exp":1700003600,"iat":1700000000,"jti":"j1","email":"ada@example.com"}
            """,
        identity: [
            "issuer": "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEfGhI",
            "subject": "a1b2c3d4-0000-1111-2222-333344445555", "email": "ada@example.com", "email_verified": "true",
            "email_trust": "verified", "preferred_username": "ada",
        ])

    package static let dex = GoldenToken(
        preset: .dex, arguments: ["issuer": "https://dex.example.com/dex"], audiences: ["example-app"],
        claims: """
            {"iss":"https://dex.example.com/dex","sub":"CgcyMzQyNzQ5EgZnaXRodWI","aud":"example-app","exp":1700086400,
            "iat":1700000000,"at_hash":"Zr8Hu0XfM4mY3qWk2v6cGg","c_hash":"qWk2v6cGgZr8Hu0XfM4mYw",
            "email":"ada@example.com","email_verified":true,"groups":["admins"],"name":"Ada Lovelace",
            "preferred_username":"ada","federated_claims":{"connector_id":"github","user_id":"2342749"}}
            """,
        identity: [
            "issuer": "https://dex.example.com/dex", "subject": "CgcyMzQyNzQ5EgZnaXRodWI", "email": "ada@example.com",
            "email_verified": "true", "email_trust": "verified", "name": "Ada Lovelace", "name_source": "token",
            "preferred_username": "ada",
        ])

    package static let entraExternal = GoldenToken(
        preset: .entraExternal, arguments: ["subdomain": "example", "tenant": tenant], audiences: ["client-guid"],
        headerMembers: #","typ":"JWT""#,
        claims: """
            {"aud":"client-guid","iss":"https://\(tenant).ciamlogin.com/\(tenant)/v2.0","iat":1700000000,
            "nbf":1700000000,"exp":1700003900,"name":"Ada Lovelace","oid":"00000000-aaaa-bbbb-cccc-000000000000",
            "preferred_username":"ada@example.com","rh":"0.A","sid":"s1","sub":"pairwise","tid":"\(tenant)",
            "uti":"u1","ver":"2.0"}
            """,
        identity: [
            "issuer": "https://\(tenant).ciamlogin.com/\(tenant)/v2.0", "subject": "pairwise", "name": "Ada Lovelace",
            "name_source": "token", "preferred_username": "ada@example.com", "tenant": tenant,
        ])

    package static let facebook = GoldenToken(
        preset: .facebookLimitedLogin, audiences: ["1234567890"],
        claims: """
            {"iss":"https://www.facebook.com","aud":"1234567890","sub":"10223344556677889","iat":1700000000,
            "exp":1700003600,"jti":"abc.0123","nonce":"n-0S6","email":"ada@example.com","given_name":"Ada",
            "family_name":"Lovelace","name":"Ada Lovelace","picture":"https://platform-lookaside.fbsbx.com/a"}
            """,
        nonce: "n-0S6",
        identity: [
            "issuer": "https://www.facebook.com", "subject": "10223344556677889", "email": "ada@example.com",
            "email_trust": "unverified", "name": "Ada Lovelace", "given_name": "Ada", "family_name": "Lovelace",
            "name_source": "token", "picture": "https://platform-lookaside.fbsbx.com/a",
        ])

    package static let firebase = GoldenToken(
        preset: .firebase, arguments: ["project": "example-1234"], headerMembers: #","typ":"JWT""#,
        claims: """
            {"name":"Ada Lovelace","picture":"https://lh3.googleusercontent.com/a","role":"editor",
            "iss":"https://securetoken.google.com/example-1234","aud":"example-1234","auth_time":1699990000,
            "user_id":"y8wiKThXGKM88xxrQWDZzKnBuqv2","sub":"y8wiKThXGKM88xxrQWDZzKnBuqv2","iat":1700000000,
            "exp":1700003600,"email":"ada@example.com","email_verified":true,"firebase":{"identities":
            {"google.com":["110169484474386276334"],"email":["ada@example.com"]},"sign_in_provider":"google.com",
            "tenant":"acme-x1y2z"}}
            """,
        identity: [
            "issuer": "https://securetoken.google.com/example-1234", "subject": "y8wiKThXGKM88xxrQWDZzKnBuqv2",
            "email": "ada@example.com", "email_verified": "true", "email_trust": "verified", "name": "Ada Lovelace",
            "name_source": "token", "picture": "https://lh3.googleusercontent.com/a", "tenant": "acme-x1y2z",
        ])

    package static let firebaseSessionCookie = GoldenToken(
        preset: .firebaseSessionCookie, arguments: ["project": "example-1234"],
        claims: """
            {"iss":"https://session.firebase.google.com/example-1234","aud":"example-1234","auth_time":1699990000,
            "user_id":"y8wiKThXGKM88xxrQWDZzKnBuqv2","sub":"y8wiKThXGKM88xxrQWDZzKnBuqv2","iat":1700000000,
            "exp":1701209600,"email":"ada@example.com","email_verified":false,
            "firebase":{"identities":{"email":["ada@example.com"]},"sign_in_provider":"password"}}
            """,
        identity: [
            "issuer": "https://session.firebase.google.com/example-1234", "subject": "y8wiKThXGKM88xxrQWDZzKnBuqv2",
            "email": "ada@example.com", "email_verified": "false", "email_trust": "unverified",
        ])

    package static let gitHubActions = GoldenToken(
        preset: .gitHubActions, audiences: ["https://github.com/octo-org"],
        callers: ClaimRule(ClaimPath("repository_owner_id"), .oneOf, ["65"]),
        headerMembers: #","typ":"JWT","x5t":"abc""#,
        claims: """
            {"jti":"j1","sub":"repo:octo-org/octo-repo:environment:prod","environment":"prod",
            "aud":"https://github.com/octo-org","ref":"refs/heads/main","sha":"s","repository":"octo-org/octo-repo",
            "repository_owner":"octo-org","actor_id":"12","repository_visibility":"private","repository_id":"74",
            "repository_owner_id":"65","run_id":"1","run_number":"10","run_attempt":"2","runner_environment":
            "github-hosted","actor":"octocat","workflow":"w","head_ref":"","base_ref":"","event_name":"push",
            "ref_type":"branch","job_workflow_ref":"octo-org/octo-automation/.github/workflows/o.yml@refs/heads/main",
            "iss":"https://token.actions.githubusercontent.com","nbf":1699999700,"exp":1700000900,"iat":1700000000}
            """,
        identity: [
            "issuer": "https://token.actions.githubusercontent.com",
            "subject": "repo:octo-org/octo-repo:environment:prod",
        ])

    package static let gitLab = GoldenToken(
        preset: .gitLab, audiences: ["0123abcd"],
        claims: """
            {"iss":"https://gitlab.com","sub":"1234567","aud":"0123abcd","exp":1700000120,"iat":1700000000,
            "auth_time":1699990000,"sub_legacy":"f0e1d2","email":"ada@example.com","email_verified":true,
            "groups_direct":["example"]}
            """,
        identity: [
            "issuer": "https://gitlab.com", "subject": "1234567", "email": "ada@example.com",
            "email_verified": "true", "email_trust": "verified",
        ])

    package static let google = GoldenToken(
        preset: .google, audiences: ["123-web.apps.googleusercontent.com"], headerMembers: #","typ":"JWT""#,
        claims: """
            {"iss":"accounts.google.com","azp":"123-android.apps.googleusercontent.com",
            "aud":"123-web.apps.googleusercontent.com","sub":"110169484474386276334","hd":"example.com",
            "email":"ada@example.com","email_verified":true,"at_hash":"HK6E_P6Dh8Y93mRNtsDB1Q","name":"Ada Lovelace",
            "picture":"https://lh3.googleusercontent.com/a","given_name":"Ada","family_name":"Lovelace","locale":"en",
            "iat":1700000000,"exp":1700003900}
            """,
        identity: [
            "issuer": "https://accounts.google.com", "subject": "110169484474386276334", "email": "ada@example.com",
            "email_verified": "true", "email_trust": "authoritative", "name": "Ada Lovelace", "given_name": "Ada",
            "family_name": "Lovelace", "name_source": "token", "picture": "https://lh3.googleusercontent.com/a",
            "locale": "en", "hosted_domain": "example.com",
        ])

    package static let kakao = GoldenToken(
        preset: .kakao, audiences: ["rest-api-key", "native-app-key"],
        claims: """
            {"aud":"native-app-key","sub":"2632890179","auth_time":1700000000,"iss":"https://kauth.kakao.com",
            "nickname":"에이다","exp":1700021600,"iat":1700000000,"picture":"http://k.kakaocdn.net/a.jpg",
            "email":"ada@example.com","nonce":"n-0S6"}
            """,
        nonce: "n-0S6",
        identity: [
            "issuer": "https://kauth.kakao.com", "subject": "2632890179", "email": "ada@example.com",
            "email_trust": "unverified", "name": "에이다", "name_source": "token",
            "picture": "http://k.kakaocdn.net/a.jpg",
        ])

    package static let keycloak = GoldenToken(
        preset: .keycloak, arguments: ["issuer": "https://sso.example.com/realms/example"], audiences: ["web"],
        headerMembers: #","typ":"JWT""#,
        claims: """
            {"exp":1700000300,"iat":1700000000,"auth_time":0,"nbf":0,"jti":"j1",
            "iss":"https://sso.example.com/realms/example","aud":"web","sub":"f3b9d2c1-0000-4000-8000-000000000000",
            "typ":"ID","azp":"web","nonce":"n-0S6","session_state":"s1","at_hash":"WQe9g2mDkOe0m3f0v4aZbQ","acr":"1",
            "s_hash":"uE1mHfWk2v6cGgZr8Hu0Xw","sid":"s1","email_verified":false,"name":"Ada Lovelace",
            "preferred_username":"ada","given_name":"Ada","family_name":"Lovelace","email":"ada@example.com"}
            """,
        nonce: "n-0S6",
        identity: [
            "issuer": "https://sso.example.com/realms/example", "subject": "f3b9d2c1-0000-4000-8000-000000000000",
            "email": "ada@example.com", "email_verified": "false", "email_trust": "unverified",
            "name": "Ada Lovelace", "given_name": "Ada", "family_name": "Lovelace", "name_source": "token",
            "preferred_username": "ada",
        ])

    package static let kubernetes = GoldenToken(
        preset: .kubernetes, arguments: ["issuer": "https://kubernetes.default.svc.cluster.local"],
        audiences: ["vault"], callers: ClaimRule(ClaimPath("/kubernetes.io/namespace"), .oneOf, ["my-namespace"]),
        claims: """
            {"aud":["vault"],"exp":1700003607,"iat":1700000000,
            "iss":"https://kubernetes.default.svc.cluster.local","jti":"j1","kubernetes.io":{"namespace":"my-namespace",
            "node":{"name":"n","uid":"u"},"pod":{"name":"my-pod","uid":"u"},"serviceaccount":{"name":"my-sa","uid":"u"},
            "warnafter":1700003607},"nbf":1700000000,"sub":"system:serviceaccount:my-namespace:my-sa"}
            """,
        identity: [
            "issuer": "https://kubernetes.default.svc.cluster.local",
            "subject": "system:serviceaccount:my-namespace:my-sa",
        ])

    package static let line = GoldenToken(
        preset: .line, audiences: ["1234567890"], key: .p256, headerMembers: #","typ":"JWT""#,
        claims: """
            {"iss":"https://access.line.me","sub":"U1234567890abcdef1234567890abcdef","aud":"1234567890",
            "exp":1700003600,"iat":1700000000,"nonce":"0987654asdf","amr":["linesso"],"name":"Ada",
            "picture":"https://profile.line-scdn.net/a","email":"ada@example.com"}
            """,
        nonce: "0987654asdf",
        identity: [
            "issuer": "https://access.line.me", "subject": "U1234567890abcdef1234567890abcdef",
            "email": "ada@example.com", "email_trust": "unverified", "name": "Ada", "name_source": "token",
            "picture": "https://profile.line-scdn.net/a",
        ])

    package static let linkedIn = GoldenToken(
        preset: .linkedIn, audiences: ["78abcdefghijkl"],
        claims: """
            {"iss":"https://www.linkedin.com/oauth","aud":"78abcdefghijkl","iat":1700000000,"exp":1700003600,
            "sub":"782bbtaQ","name":"Ada Lovelace","given_name":"Ada","family_name":"Lovelace",
            "picture":"https://media.licdn.com/a","locale":{"country":"GB","language":"en"},
            "email":"ada@example.com","email_verified":"true"}
            """,
        nonce: "never comes back",
        identity: [
            "issuer": "https://www.linkedin.com/oauth", "subject": "782bbtaQ", "email": "ada@example.com",
            "email_verified": "true", "email_trust": "verified", "name": "Ada Lovelace", "given_name": "Ada",
            "family_name": "Lovelace", "name_source": "token", "picture": "https://media.licdn.com/a",
        ])

    package static let singpass = GoldenToken(
        preset: .singpass, audiences: ["gnY6Erichpb5t4NFRP9R4L7aEC9N0FQH"], key: .p256,
        headerMembers: #","typ":"JWT""#,
        claims: """
            {"iss":"https://id.singpass.gov.sg/fapi","aud":"gnY6Erichpb5t4NFRP9R4L7aEC9N0FQH",
            "sub":"9affc4b7-7bd9-4e24-8e7f-0d2b3a0d2ab6","sub_type":"user","iat":1700000000,"exp":1700000600,
            "nonce":"a2ghskf1234las","amr":["pwd","sms"]}
            """,
        nonce: "a2ghskf1234las",
        identity: ["issuer": "https://id.singpass.gov.sg/fapi", "subject": "9affc4b7-7bd9-4e24-8e7f-0d2b3a0d2ab6"])

    package static let itsme = GoldenToken(
        preset: .itsme, audiences: ["OIDC_TEST1"],
        claims: """
            {"iss":"https://idp.prd.itsme.services/v2","aud":"OIDC_TEST1","sub":"yux7w0v8oyf5ivqwbg0oo1","iat":1700000000,
            "exp":1700000300,"nonce":"n-1","acr":"http://itsme.services/v2/claim/acr_basic","name":"Ada Lovelace",
            "given_name":"Ada","family_name":"Lovelace","locale":"NL","email":"ada@example.com","email_verified":false}
            """,
        nonce: "n-1",
        identity: [
            "issuer": "https://idp.prd.itsme.services/v2", "subject": "yux7w0v8oyf5ivqwbg0oo1",
            "email": "ada@example.com", "email_verified": "false", "email_trust": "unverified", "name": "Ada Lovelace",
            "given_name": "Ada", "family_name": "Lovelace", "name_source": "token", "locale": "NL",
        ])

    package static let eSignet = GoldenToken(
        preset: .eSignet, arguments: ["issuer": "https://esignet.example.org/v1/esignet"], audiences: ["IIbdb4CWGb"],
        claims: """
            {"iss":"https://esignet.example.org/v1/esignet","aud":"IIbdb4CWGb","sub":"2854610357","iat":1700000090,
            "exp":1700000150,"auth_time":1700000080,"nonce":"973eieljzng","acr":"mosip:idp:acr:generated-code",
            "at_hash":"tlNbiqr1Lr2YcNRGjzoghw"}
            """,
        nonce: "973eieljzng", identity: ["issuer": "https://esignet.example.org/v1/esignet", "subject": "2854610357"])

    package static let proConnect = GoldenToken(
        preset: .proConnect, audiences: ["6925fb8143c76eded44d32b40c0cb1006065f7f003de52712b78985704f39950"],
        headerMembers: #","typ":"JWT""#,
        claims: """
            {"sub":"704e024229015d2bd47f7a5e5ab05b35c8336ab403c38022985f8cfadc86fe91","amr":["pwd"],"auth_time":1700000090,
            "acr":"eidas1","nonce":"afc81fda1fbb6d3c876af75c737a1307a1b29ba0873efa059e4535d122c9db5a",
            "at_hash":"ITBSWRv5mGFlqLd4Jngntg","aud":"6925fb8143c76eded44d32b40c0cb1006065f7f003de52712b78985704f39950",
            "exp":1700000150,"iat":1700000090,"iss":"https://auth.agentconnect.gouv.fr/api/v2"}
            """,
        nonce: "afc81fda1fbb6d3c876af75c737a1307a1b29ba0873efa059e4535d122c9db5a",
        identity: [
            "issuer": "https://auth.agentconnect.gouv.fr/api/v2",
            "subject": "704e024229015d2bd47f7a5e5ab05b35c8336ab403c38022985f8cfadc86fe91",
        ])

    package static let loginGov = GoldenToken(
        preset: .loginGov, audiences: ["urn:gov:gsa:openidconnect.profiles:sp:sso:example:app"],
        claims: """
            {"sub":"b2d2d115-1d7e-4579-b9d6-f8e84f4f56ca","iss":"https://secure.login.gov/",
            "acr":"urn:acr.login.gov:verified","nonce":"aad0aa969c156b2dfa685f885fac7083",
            "aud":"urn:gov:gsa:openidconnect.profiles:sp:sso:example:app","jti":"jC7NnU8dNNV5lisQBm1jtA",
            "at_hash":"tlNbiqr1Lr2YcNRGjzoghw","c_hash":"hXjq7kOrtQK_za_6tONxcw","exp":1700000900,"iat":1700000000,
            "nbf":1700000000}
            """,
        nonce: "aad0aa969c156b2dfa685f885fac7083",
        identity: [
            "issuer": "https://secure.login.gov/", "subject": "b2d2d115-1d7e-4579-b9d6-f8e84f4f56ca",
        ])

    package static let microsoft = GoldenToken(
        preset: .microsoft, arguments: ["tenant": tenant], audiences: ["6731de76-14a6-49ae-97bc-6eba6914391e"],
        headerMembers: #","typ":"JWT""#,
        claims: """
            {"ver":"2.0","iss":"https://login.microsoftonline.com/\(tenant)/v2.0","sub":"AAAAAAAAAAAAAAAAAAAAAIkzqFVr",
            "aud":"6731de76-14a6-49ae-97bc-6eba6914391e","exp":1700003900,"iat":1700000000,"nbf":1700000000,
            "name":"Ada Lovelace","preferred_username":"ada@example.com","email":"ada@example.com","xms_edov":"1",
            "oid":"00000000-0000-0000-66f3-3332eca7ea81","tid":"\(tenant)","nonce":"123523","aio":"Df2UVXL1","sid":"s1",
            "uti":"u1","rh":"0.A"}
            """,
        nonce: "123523",
        identity: [
            "issuer": "https://login.microsoftonline.com/\(tenant)/v2.0", "subject": "AAAAAAAAAAAAAAAAAAAAAIkzqFVr",
            "email": "ada@example.com", "email_verified": "true", "email_trust": "verified", "name": "Ada Lovelace",
            "name_source": "token", "preferred_username": "ada@example.com", "tenant": tenant,
        ])

    package static let microsoftConsumer = GoldenToken(
        preset: .microsoft, arguments: ["tenant": "common"], audiences: ["6731de76-14a6-49ae-97bc-6eba6914391e"],
        claims: """
            {"ver":"2.0","iss":"https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0",
            "sub":"AAAAAAAAAAAAAAAAAAAAAGx","aud":"6731de76-14a6-49ae-97bc-6eba6914391e","exp":1700003900,
            "iat":1700000000,"nbf":1700000000,"name":"Ada Lovelace","preferred_username":"ada@outlook.com",
            "email":"ada@outlook.com","oid":"00000000-0000-0000-66f3-3332eca7ea81",
            "tid":"9188040d-6c67-4c5b-b112-36a304b66dad"}
            """,
        identity: [
            "issuer": "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0",
            "subject": "AAAAAAAAAAAAAAAAAAAAAGx", "email": "ada@outlook.com", "email_trust": "unverified",
            "name": "Ada Lovelace", "name_source": "token", "preferred_username": "ada@outlook.com",
            "tenant": "9188040d-6c67-4c5b-b112-36a304b66dad",
        ])

    package static let microsoftVersion1 = GoldenToken(
        preset: .microsoftVersion1, arguments: ["tenant": tenant], audiences: ["b14a7505-96e9-4927-91e8-0601d0fc9caa"],
        headerMembers: #","typ":"JWT","x5t":"abc""#,
        claims: """
            {"aud":"b14a7505-96e9-4927-91e8-0601d0fc9caa","iss":"https://sts.windows.net/\(tenant)/","iat":1700000000,
            "nbf":1700000000,"exp":1700003900,"amr":["pwd"],"family_name":"Lovelace","given_name":"Ada",
            "ipaddr":"192.0.2.1","name":"Ada Lovelace","oid":"6467882c-fdfd-4354-a1ed-4e13f064be25",
            "sub":"JUzHQdR9dPNO","tid":"\(tenant)","unique_name":"ada@example.com","upn":"ada@example.com","uti":"u1",
            "ver":"1.0"}
            """,
        identity: [
            "issuer": "https://sts.windows.net/\(tenant)/", "subject": "JUzHQdR9dPNO", "name": "Ada Lovelace",
            "given_name": "Ada", "family_name": "Lovelace", "name_source": "token", "tenant": tenant,
        ])

    package static let oidc = GoldenToken(
        preset: .oidc, arguments: ["issuer": "https://server.example.com"], audiences: ["s6BhdRkqt3"],
        claims: """
            {"iss":"https://server.example.com","sub":"24400320","aud":"s6BhdRkqt3","nonce":"n-0S6_WzA2Mj",
            "exp":1700000970,"iat":1700000000,"auth_time":1699999969,"acr":"urn:mace:incommon:iap:silver"}
            """,
        nonce: "n-0S6_WzA2Mj",
        identity: ["issuer": "https://server.example.com", "subject": "24400320"])

    package static let okta = GoldenToken(
        preset: .okta, arguments: ["domain": "example.okta.com", "authorization_server": "default"],
        audiences: ["0oabcdefghIJKLMNO1d6"],
        claims: """
            {"sub":"00uid4BxXw6I6TV4m0g3","name":"Ada Lovelace","email":"ada@example.com","ver":1,
            "iss":"https://example.okta.com/oauth2/default","aud":"0oabcdefghIJKLMNO1d6","iat":1700000000,
            "exp":1700003600,"jti":"ID.4eAWJOCMB3SX8XewDfVR","amr":["pwd"],"idp":"00ok1u7AsAkrwdZL3z0g3",
            "preferred_username":"ada@example.com","auth_time":1699999000,"at_hash":"cpqKfdQA5eH891Ff5oJr_Q",
            "email_verified":true}
            """,
        identity: [
            "issuer": "https://example.okta.com/oauth2/default", "subject": "00uid4BxXw6I6TV4m0g3",
            "email": "ada@example.com", "email_verified": "true", "email_trust": "verified", "name": "Ada Lovelace",
            "name_source": "token", "preferred_username": "ada@example.com",
        ])

    package static let ory = GoldenToken(
        preset: .ory, arguments: ["issuer": "https://example.projects.oryapis.com"],
        audiences: ["4f0c6e1a-0000-4000-8000-000000000000"],
        claims: """
            {"amr":["password"],"at_hash":"Zr8Hu0XfM4mY3qWk2v6cGg","aud":["4f0c6e1a-0000-4000-8000-000000000000"],
            "auth_time":1699999999,"exp":1700003600,"iat":1700000000,"iss":"https://example.projects.oryapis.com",
            "jti":"j1","rat":1699999998,"sid":"s1","sub":"9d3f0000-0000-4000-8000-000000000000"}
            """,
        identity: [
            "issuer": "https://example.projects.oryapis.com", "subject": "9d3f0000-0000-4000-8000-000000000000",
        ])

    package static let salesforce = GoldenToken(
        preset: .salesforce, arguments: ["domain": "example.my.salesforce.com"], audiences: ["3MVG9abc"],
        claims: """
            {"at_hash":"Zr8Hu0XfM4mY3qWk2v6cGg","sub":"https://login.salesforce.com/id/00D000000000001AAA/005000000000001AAA",
            "zoneinfo":"Europe/London","email_verified":true,"address":{},"profile":"https://example.my.salesforce.com/005",
            "iss":"https://example.my.salesforce.com","preferred_username":"ada@example.com.sandbox",
            "given_name":"Ada","locale":"en_GB","picture":"https://example.my.salesforce.com/p","aud":"3MVG9abc",
            "updated_at":"2023-11-14T22:13:20Z","nickname":"ada","name":"Ada Lovelace","family_name":"Lovelace",
            "exp":1700000120,"iat":1700000000,"email":"ada@example.com","custom_attributes":{}}
            """,
        identity: [
            "issuer": "https://example.my.salesforce.com",
            "subject": "https://login.salesforce.com/id/00D000000000001AAA/005000000000001AAA",
            "email": "ada@example.com", "email_verified": "true", "email_trust": "verified", "name": "Ada Lovelace",
            "given_name": "Ada", "family_name": "Lovelace", "name_source": "token",
            "preferred_username": "ada@example.com.sandbox", "picture": "https://example.my.salesforce.com/p",
            "locale": "en_GB",
        ])

    package static let slack = GoldenToken(
        preset: .slack, audiences: ["25259531569.1115258246291"], headerMembers: #","typ":"JWT""#,
        claims: """
            {"iss":"https://slack.com","sub":"U123ABC456","aud":"25259531569.1115258246291","exp":1700000300,
            "iat":1700000000,"auth_time":1700000000,"nonce":"abcd","at_hash":"abc","https://slack.com/team_id":"T0123ABC456",
            "https://slack.com/user_id":"U123ABC456","email":"ada@example.com","email_verified":true,
            "date_email_verified":1600000000,"locale":"en-GB","name":"Ada","given_name":"","family_name":"",
            "https://slack.com/team_name":"example"}
            """,
        nonce: "abcd",
        identity: [
            "issuer": "https://slack.com", "subject": "U123ABC456", "email": "ada@example.com",
            "email_verified": "true", "email_trust": "verified", "name": "Ada", "given_name": "", "family_name": "",
            "name_source": "token", "locale": "en-GB", "tenant": "T0123ABC456",
        ])

    package static let supabase = GoldenToken(
        preset: .supabase, arguments: ["project": "abcdefghijklmnopqrst"], key: .p256, headerMembers: #","typ":"JWT""#,
        claims: """
            {"aal":"aal1","amr":[{"method":"password","timestamp":1700000000}],"app_metadata":{"provider":"email"},
            "aud":"authenticated","email":"ada@example.com","exp":1700003600,"iat":1700000000,"is_anonymous":false,
            "iss":"https://abcdefghijklmnopqrst.supabase.co/auth/v1","phone":"","role":"authenticated",
            "session_id":"s1","sub":"ef0493c9-3582-425f-a362-aef909588df7","user_metadata":{"full_name":"Ada"}}
            """,
        identity: [
            "issuer": "https://abcdefghijklmnopqrst.supabase.co/auth/v1",
            "subject": "ef0493c9-3582-425f-a362-aef909588df7", "email": "ada@example.com", "email_trust": "unverified",
        ])

    package static let twitch = GoldenToken(
        preset: .twitch, audiences: ["hof5gwx0su6owfnys0nyan9c87zr6t"], headerMembers: #","typ":"JWT""#,
        claims: """
            {"aud":"hof5gwx0su6owfnys0nyan9c87zr6t","exp":1700000900,"iat":1700000000,
            "iss":"https://id.twitch.tv/oauth2","sub":"713936733","azp":"hof5gwx0su6owfnys0nyan9c87zr6t",
            "email":"ada@example.com","email_verified":true,"preferred_username":"ada_tv",
            "picture":"https://static-cdn.jtvnw.net/a","updated_at":"2023-11-14T22:13:20Z"}
            """,
        identity: [
            "issuer": "https://id.twitch.tv/oauth2", "subject": "713936733", "email": "ada@example.com",
            "email_verified": "true", "email_trust": "verified", "preferred_username": "ada_tv",
            "picture": "https://static-cdn.jtvnw.net/a",
        ])

    package static let yahooJapan = GoldenToken(
        preset: .yahooJapan, audiences: ["dj00aiZpPWFiYw--"], headerMembers: #","typ":"JWT""#,
        claims: """
            {"iss":"https://auth.login.yahoo.co.jp/yconnect/v2","sub":"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            "aud":["dj00aiZpPWFiYw--"],"exp":1702419200,"iat":1700000000,"amr":["pwd"],"nonce":"n-0S6",
            "auth_time":1699999000,"at_hash":"Zr8Hu0XfM4mY3qWk2v6cGg"}
            """,
        nonce: "n-0S6",
        identity: [
            "issuer": "https://auth.login.yahoo.co.jp/yconnect/v2", "subject": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        ])

    package static let authentik = GoldenToken(
        preset: .authentik, arguments: ["issuer": "https://sso.example.com/application/o/shop/"],
        audiences: ["shop-client"],
        claims: """
            {"iss":"https://sso.example.com/application/o/shop/","sub":"9f2d","aud":"shop-client","exp":1700000300,
            "iat":1700000000,"auth_time":1700000000,"acr":"goauthentik.io/providers/oauth2/default","amr":["pwd"],
            "at_hash":"77QmUPtjPfzWtF2AnpK9RQ","sid":"s1"}
            """,
        identity: ["issuer": "https://sso.example.com/application/o/shop/", "subject": "9f2d"])

    package static let kinde = GoldenToken(
        preset: .kinde, arguments: ["domain": "example.kinde.com"], audiences: ["shop-client"],
        claims: """
            {"at_hash":"77QmUPtjPfzWtF2AnpK9RQ","aud":["shop-client"],"auth_time":1700000000,"azp":"shop-client",
            "exp":1700003600,"iat":1700000000,"iss":"https://example.kinde.com","jti":"j1","sub":"kp_1"}
            """,
        identity: ["issuer": "https://example.kinde.com", "subject": "kp_1"])

    package static let spring = GoldenToken(
        preset: .springAuthorizationServer, arguments: ["issuer": "https://auth.example.com"],
        audiences: ["shop-client"],
        claims: """
            {"sub":"jane","aud":"shop-client","azp":"shop-client","auth_time":1700000000,"iss":"https://auth.example.com",
            "exp":1700001800,"iat":1700000000,"jti":"j1","sid":"s1"}
            """,
        identity: ["issuer": "https://auth.example.com", "subject": "jane"])

    package static let workOSAuthKit = GoldenToken(
        preset: .workOSAuthKit, arguments: ["client": "client_01"], audiences: ["client_01"],
        claims: """
            {"iss":"https://api.workos.com/user_management/client_01","sub":"user_01","aud":"client_01",
            "exp":1700000300,"iat":1700000000}
            """,
        identity: ["issuer": "https://api.workos.com/user_management/client_01", "subject": "user_01"])

    package static let zitadel = GoldenToken(
        preset: .zitadel, arguments: ["issuer": "https://example.zitadel.cloud"], audiences: ["69234237810729019@app"],
        claims: """
            {"amr":["password","pwd"],"aud":["69234237810729019@app","69234237810729234@app","69234230193872955"],
            "auth_time":1699999000,"azp":"69234237810729019@app","client_id":"69234237810729019@app",
            "exp":1700043200,"iat":1700000000,"nbf":1700000000,"iss":"https://example.zitadel.cloud",
            "email":"ada@example.com","email_verified":true,"name":"Ada Lovelace","preferred_username":"ada",
            "locale":"en","sub":"77776025198584418",
            "urn:zitadel:iam:org:project:roles":{"user":{"69234230193872955":"example.com"}}}
            """,
        identity: [
            "issuer": "https://example.zitadel.cloud", "subject": "77776025198584418", "email": "ada@example.com",
            "email_verified": "true", "email_trust": "verified", "name": "Ada Lovelace", "name_source": "token",
            "preferred_username": "ada", "locale": "en",
        ])
}
