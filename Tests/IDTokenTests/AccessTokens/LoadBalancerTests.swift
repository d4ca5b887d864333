import IDToken
import JOSE
import OpenSSL
import SignInFixtures
import Testing
import TestSupport

/// The assertions of an AWS load balancer, and what its header must say.
@Suite struct LoadBalancerTests {
    private let sent = SentAccessToken.loadBalancer

    /// The header with one member replaced or, with `nil`, removed.
    private func with(_ name: String, _ json: String?) -> SentAccessToken {
        var members: [(name: String, json: String)] = [
            ("typ", #""JWT""#), ("iss", #""https://op.example""#), ("client", #""my-client""#),
            ("signer", "\"\(SentAccessToken.arn)\""), ("exp", "1700000120"),
        ]
        members.removeAll { $0.name == name }
        if let json { members.append((name, json)) }
        return sent.header(members.map { ",\"\($0.name)\":\($0.json)" }.joined())
    }

    @Test func `it is verified`() throws {
        let verified = try sent.verify()
        #expect(verified.identity.issuer == "https://op.example")
        #expect(verified.identity.subject == "1234567890")
        #expect(verified.identity.isEmailVerified == true)
        #expect(verified.authorization.clientID == "my-client")
        #expect(verified.audiences == [])
        #expect(verified.issuedAt == nil)
        #expect(verified.expiresAt.seconds == 1_700_000_120)
        #expect(verified.keyID == TestKey.loadBalancer.keyID)
    }

    @Test func `only the load balancer of the settings may sign`() {
        let other = SentAccessToken.arn.replacing("123456789012", with: "210987654321")
        #expect(with("signer", "\"\(other)\"").rejection == .invalid("signer"))
        #expect(with("signer", "\"\(SentAccessToken.arn)/\"").rejection == .invalid("signer"))
        #expect(with("signer", "\"\(SentAccessToken.arn.uppercased())\"").rejection == .invalid("signer"))
        #expect(with("signer", "[\"\(SentAccessToken.arn)\"]").rejection == .invalid("signer"))
        #expect(with("signer", nil).rejection == .missing("signer"))
        // The payload is what the identity provider says of the user.
        #expect(with("signer", nil).with("signer", "\"\(SentAccessToken.arn)\"").rejection == .missing("signer"))
    }

    @Test func `only users of this client may come in`() {
        #expect(with("client", #""other""#).rejection == .authorizedPartyMismatch)
        #expect(with("client", nil).rejection == .missing("client"))
        #expect(with("client", "5").rejection == .invalid("client"))
        #expect(with("client", nil).with("client_id", #""my-client""#).rejection == .missing("client"))
        #expect(sent.policy { $0.authorizedParties = [] }.rejection == .audienceMismatch)
        #expect(sent.with("aud", #""my-client""#).rejection == .audienceMismatch)
    }

    @Test func `header and payload must agree on the issuer`() {
        #expect(with("iss", #""https://other.example""#).rejection == .issuerMismatch)
        #expect(with("iss", nil).rejection == .missing("iss"))
        #expect(sent.with("iss", #""https://other.example""#).rejection == .issuerMismatch)
        #expect(sent.without("iss").rejection == .issuerMismatch)
        let both = with("iss", #""https://other.example""#).with("iss", #""https://other.example""#)
        #expect(both.rejection == .issuerMismatch)
    }

    @Test func `header and payload must agree on the expiry, which is checked`() {
        #expect(with("exp", "1700000121").rejection == .invalid("exp"))
        #expect(with("exp", nil).rejection == .missing("exp"))
        #expect(with("exp", #""1700000120""#).rejection == .invalid("exp"))
        #expect(sent.without("exp").rejection == .invalid("exp"))
        #expect(sent.with("exp", "1700009999").rejection == .invalid("exp"))
        #expect(sent.at(1_700_000_179).rejection == nil)
        #expect(sent.at(1_700_000_180).rejection == .tokenExpired)
    }

    @Test(arguments: [
        "p256", "", "004cb65f3ef74efaa1494f19b4c754c8", "004CB65F-3EF7-4EFA-A149-4F19B4C754C8",
        "004cb65f-3ef7-4efa-a149-4f19b4c754c", "../../secret-0000-0000-0000-000000000000",
        "004cb65f-3ef7-4efa-a149-4f19b4c754c8?", "004cb65f-3ef7-4efa-a149-4f19b4c754c8/..",
        "g04cb65f-3ef7-4efa-a149-4f19b4c754c8",
    ])
    func `a kid that is not a UUID names no key, and is worth no fetch`(keyID: String) throws {
        let key = TestKey(keyID, "ES256", .ellipticCurve(.p256))
        let odd = sent.change { $0.key = key }
        #expect(odd.rejection == .keyNotFound)
        #expect(try !wouldPass(odd))
    }

    @Test func `only ES256 is allowed`() {
        let rsa = TestKey(TestKey.loadBalancer.keyID, "RS256", .rsa(modulusLength: 256))
        #expect(sent.change { $0.key = rsa }.rejection == .algorithmNotAllowed)
    }

    @Test func `nothing may depend on a time of issue that it does not have`() throws {
        let revoked = sent.expecting { $0.authenticatedAfter = UnixTime(seconds: 1) }
        #expect(revoked.rejection == .missing("iat"))
        #expect(sent.policy { $0.maximumTokenAgeSeconds = 3600 }.rejection == .missing("iat"))
        // If it has one, it counts.
        let dated = sent.with("iat", "1700000000")
        #expect(try dated.verify().issuedAt?.seconds == 1_700_000_000)
        #expect(dated.at(1_699_999_939).rejection == .tokenNotYetValid)
        #expect(sent.with("iat", "null").rejection == .invalid("iat"))
        #expect(
            dated.expecting { $0.authenticatedAfter = UnixTime(seconds: 1_700_000_001) }.rejection == .sessionRevoked)
        // Others must have it.
        #expect(SentAccessToken.googleIAP.without("iat").rejection == .missing("iat"))
    }

    @Test func `only an assertion of this load balancer, for this client, is worth a fetch`() throws {
        #expect(try wouldPass(sent))
        #expect(try !wouldPass(with("signer", #""arn:other""#)))
        #expect(try !wouldPass(with("client", #""other""#)))
        #expect(try !wouldPass(with("iss", #""https://other.example""#)))
        #expect(try !wouldPass(with("exp", "1700000121")))
        #expect(try !wouldPass(sent.at(1_700_000_180)))
    }

    private func wouldPass(_ sent: SentAccessToken) throws -> Bool {
        let token = try sent.unverified()
        let now = UnixTime(seconds: sent.now)
        return (try? token.checkClaims(ofAccessTokenUnder: sent.policy, sent.dialect, now: now)) != nil
    }

    @Test func `the keys' address follows from the region`() throws {
        func keys(_ partition: String, _ region: String) -> PublishedKeys {
            let arn =
                "arn:\(partition):elasticloadbalancing:\(region):123456789012:loadbalancer/app/web/50dc6c495c0c9188"
            return ProviderPreset.awsLoadBalancer.facts(["signer": arn]).keys
        }
        #expect(keys("aws", "eu-west-1") == .publicKeys("https://public-keys.auth.elb.eu-west-1.amazonaws.com/{kid}"))
        #expect(
            keys("aws-us-gov", "us-gov-east-1")
                == .publicKeys(
                    "https://s3-us-gov-east-1.amazonaws.com/aws-elb-public-keys-prod-us-gov-east-1/{kid}"))
        #expect(keys("aws-cn", "cn-north-1") == .publicKeys(nil))
    }

    @Test(arguments: [
        "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/net/web/50dc6c495c0c9188",
        "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/web",
        "arn:aws:elasticloadbalancing:eu-west-1:12345678901:loadbalancer/app/web/50dc6c495c0c9188",
        "arn:aws:elasticloadbalancing:evil.example/:123456789012:loadbalancer/app/web/50dc6c495c0c9188",
        "arn:aws:ec2:eu-west-1:123456789012:loadbalancer/app/web/50dc6c495c0c9188",
        "arn:aws:elasticloadbalancing::123456789012:loadbalancer/app/web/50dc6c495c0c9188",
        "my-load-balancer",
    ])
    func `a signer is the ARN of an Application Load Balancer`(signer: String) throws {
        let parameter = try #require(ProviderPreset.awsLoadBalancer.parameters.first { $0.name == "signer" })
        #expect(!parameter.accepts(signer))
        #expect(parameter.accepts(SentAccessToken.arn))
    }
}
