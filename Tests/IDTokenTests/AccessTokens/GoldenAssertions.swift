import IDToken
import SignInFixtures
import TestSupport

/// One assertion of each gateway, with the header and the claims that its documentation shows.
extension SentAccessToken {
    static let googleIAP = SentAccessToken(
        .googleIdentityAwareProxy, [:], audiences: ["/projects/1234567890123/global/backendServices/42"], key: .p256,
        header: #","typ":"JWT""#,
        claims: """
            {"aud":"/projects/1234567890123/global/backendServices/42","email":"jane@example.com","exp":1700000600,
            "google":{"access_levels":["accessPolicies/1/accessLevels/office"]},"hd":"example.com","iat":1700000000,
            "iss":"https://cloud.google.com/iap","sub":"accounts.google.com:118133858486581853996"}
            """)

    static let cloudflareTag = "4714c1358e65fe4b408ad6d432a5f878f08194bdb4752441fd56faefa9b2b6f2"

    static let cloudflareAccess = SentAccessToken(
        .cloudflareAccess, ["domain": "example.cloudflareaccess.com"], audiences: [cloudflareTag],
        claims: """
            {"aud":["\(cloudflareTag)"],"email":"jane@example.com","exp":1700086400,"iat":1700000000,
            "nbf":1700000000,"iss":"https://example.cloudflareaccess.com","type":"app",
            "identity_nonce":"6ei69kawdKzMIAPF","sub":"7335d417-61da-459d-899c-0a01c76a2f94","country":"US"}
            """)

    /// The assertion of a machine, which a service token lets in.
    static let cloudflareService = SentAccessToken(
        .cloudflareAccess, ["domain": "example.cloudflareaccess.com"], audiences: [cloudflareTag],
        claims: """
            {"type":"app","aud":"\(cloudflareTag)","exp":1700086400,"iss":"https://example.cloudflareaccess.com",
            "common_name":"e367826f93b8d71185e03fe518aff3b4.access","iat":1700000000,"sub":""}
            """
    ).change { $0.dialect.acceptsServiceTokens = true }

    static let pomerium = SentAccessToken(
        .pomerium, ["domain": "app.example.com"], audiences: ["app.example.com"], key: .p256, header: #","typ":"JWT""#,
        claims: """
            {"aud":"app.example.com","email":"jane@example.com","exp":1700000300,"groups":["g1","admins@example.com"],
            "iat":1700000000,"iss":"app.example.com","jti":"j1","name":"Jane Doe","sid":"s1","sub":"u1","user":"u1"}
            """)

    static let arn = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/web/50dc6c495c0c9188"

    static let loadBalancer = SentAccessToken(
        .awsLoadBalancer, ["signer": arn, "client": "my-client", "issuer": "https://op.example"], audiences: [],
        key: .loadBalancer,
        header:
            #","typ":"JWT","iss":"https://op.example","client":"my-client","signer":"\#(arn)","exp":1700000120"#,
        claims: """
            {"sub":"1234567890","name":"Jane Doe","email":"jane@example.com","email_verified":"true",
            "exp":1700000120,"iss":"https://op.example"}
            """)
}
