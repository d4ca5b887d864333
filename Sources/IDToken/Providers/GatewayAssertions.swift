private import Bytes
private import JOSE

extension ProviderPreset {
    /// The presets of this file.
    static let gateways: [ProviderPreset] = [.awsLoadBalancer, .cloudflareAccess, .googleIdentityAwareProxy, .pomerium]

    /// Assertions of an AWS Application Load Balancer, in `x-amzn-oidc-data`.
    ///
    /// All load balancers of a region publish their keys at one address, so the signer must be checked: otherwise
    /// anybody's load balancer could sign for this one. `iss` is the issuer of the identity provider.
    /// - Source: docs.aws.amazon.com/elasticloadbalancing/latest/application/listener-authenticate-users.html, "User
    ///   claims encoding and signature verification". It does not name the address of the keys in China.
    public static let awsLoadBalancer = ProviderPreset(
        name: "aws-alb", summary: "AWS Application Load Balancer, assertions",
        parameters: [.signer, .client, .identityProvider]
    ) { arguments in
        let signer = arguments[.signer]
        var facts = ProviderFacts(issuer: arguments[.identityProvider])
        facts.keys = .publicKeys(
            LoadBalancerName(signer).map(\.publicKeyAddress)
                ?? "https://public-keys.auth.elb.<region>.amazonaws.com/{kid}")
        facts.policy.algorithms = [.es256]
        facts.policy.authorizedParties = [arguments[.client]]
        var dialect = AccessTokenDialect.gateway
        dialect.loadBalancer = signer
        facts.accessTokens = .assertions(dialect)
        return facts
    }
}

extension PresetParameter {
    fileprivate static let signer = PresetParameter(
        "signer",
        "the load balancer's ARN, such as arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/web/50dc6c495c0c9188"
    ) { LoadBalancerName($0) != nil }

    fileprivate static let client = PresetParameter(
        "client", "the client ID with which the load balancer signs users in"
    ) { text in
        !text.isEmpty && text.utf8.allSatisfy(\.isVisibleASCII)
    }

    fileprivate static let identityProvider = issuer("https://<host>")
}

/// The ARN of an Application Load Balancer.
private struct LoadBalancerName {
    private let partition: Substring
    private let region: Substring

    init?(_ arn: String) {
        let parts = arn.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "arn", parts[2] == "elasticloadbalancing",
            PresetParameter.isWord(String(parts[1])), PresetParameter.isWord(String(parts[3])),
            parts[4].utf8.count == 12, parts[4].utf8.allSatisfy(\.isDigit)
        else { return nil }
        let resource = parts[5].split(separator: "/", omittingEmptySubsequences: false)
        guard resource.count == 4, resource[0] == "loadbalancer", resource[1] == "app",
            resource.allSatisfy({ PresetParameter.isWord(String($0)) })
        else { return nil }
        (partition, region) = (parts[1], parts[3])
    }

    /// Where the region's public keys are; `nil` if AWS does not document it.
    var publicKeyAddress: String? {
        switch partition {
        case "aws": "https://public-keys.auth.elb.\(region).amazonaws.com/{kid}"
        case "aws-us-gov": "https://s3-\(region).amazonaws.com/aws-elb-public-keys-prod-\(region)/{kid}"
        default: nil
        }
    }
}

extension ProviderPreset {
    /// Assertions of Cloudflare Access, in `Cf-Access-Jwt-Assertion`.
    ///
    /// The same keys sign the token of the user's whole session, whose `type` is `org`. A service token has an empty
    /// `sub`, and its name in `common_name`.
    /// - Source: developers.cloudflare.com/cloudflare-one/access-controls/applications/http-apps/authorization-cookie,
    ///   "Validate JWTs" and "Application token".
    public static let cloudflareAccess = ProviderPreset(
        name: "cloudflare-access", summary: "Cloudflare Access, assertions", parameters: [.team]
    ) { arguments in
        let issuer = "https://\(arguments[.team])"
        var facts = ProviderFacts(issuer: issuer)
        facts.keys = .jwkSet(issuer + "/cdn-cgi/access/certs")
        facts.policy.algorithms = [.rs256]
        let serviceName = ClaimName("common_name")
        facts.accessTokens = .assertions(
            AccessTokenDialect(clientClaims: [serviceName]) {
                $0.requiresClient = false
                $0.serviceNameClaim = serviceName
                $0.claimRules = [ClaimRule(ClaimPath("type"), .oneOf, ["app"])]
            })
        return facts
    }
}

extension PresetParameter {
    fileprivate static let team = host("the team domain, such as example.cloudflareaccess.com")
}

extension ProviderPreset {
    /// Assertions of Google's Identity-Aware Proxy, in `x-goog-iap-jwt-assertion`.
    ///
    /// The audience is a path, such as `/projects/123/global/backendServices/456`. `sub` is `accounts.google.com:` and
    /// the account's ID.
    /// - Source: docs.cloud.google.com/iap/docs/signed-headers-howto.
    public static let googleIdentityAwareProxy = ProviderPreset(
        name: "google-iap", summary: "Google Identity-Aware Proxy, assertions", issuer: "https://cloud.google.com/iap"
    ) { facts in
        facts.keys = .jwkSet("https://www.gstatic.com/iap/verify/public_key-jwk")
        facts.policy.algorithms = [.es256]
        facts.policy.reportsHostedDomain = true
        facts.accessTokens = .assertions(.gateway)
    }

    /// Assertions of Pomerium, in `X-Pomerium-Jwt-Assertion`, for one route.
    ///
    /// The issuer and the audience are the route's host. With `jwt_issuer_format: uri`, the issuer is a URL.
    /// - Source: pomerium.com/docs/capabilities/getting-users-identity and /docs/reference/jwt-issuer-format.
    public static let pomerium = ProviderPreset(
        name: "pomerium", summary: "Pomerium, assertions for one route", parameters: [.route]
    ) { arguments in
        let host = arguments[.route]
        var facts = ProviderFacts(issuer: host)
        facts.keys = .jwkSet("https://\(host)/.well-known/pomerium/jwks.json")
        facts.policy.issuerAliases = ["https://\(host)/"]
        facts.policy.audiences = [host]
        facts.policy.algorithms = [.es256]
        facts.accessTokens = .assertions(.gateway)
        return facts
    }
}

extension PresetParameter {
    fileprivate static let route = host("the host of the route, such as app.example.com")
}
