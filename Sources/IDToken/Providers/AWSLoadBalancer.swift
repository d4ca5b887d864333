private import Bytes
private import JOSE

extension ProviderPreset {
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
