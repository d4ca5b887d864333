import IDToken
import SignInFixtures
import Testing
import TestSupport

/// Sign in with Apple, with realistic tokens.
@Suite struct AppleTests {
    private func identity(_ email: String, private claimed: String? = nil) throws -> Identity {
        var signIn = SignIn.apple.with("email", "\"\(email)\"").with("email_verified", "true")
        if let claimed { signIn = signIn.with("is_private_email", claimed) }
        return try signIn.verify().identity
    }

    @Test func `a token without an address`() throws {
        let identity = try SignIn.apple.verify().identity
        #expect(identity.provider == "apple")
        #expect(identity.issuer == "https://appleid.apple.com")
        #expect(identity.subject == "001234.0123456789abcdef0123456789abcdef.0123")
        #expect(identity.email == nil)
        #expect(identity.isEmailVerified == nil)
        #expect(identity.emailTrust == nil)
        #expect(identity.isPrivateEmail == nil)
        #expect(identity.name == nil && identity.givenName == nil && identity.familyName == nil)
        #expect(identity.nameSource == nil)
        #expect(identity.realUserStatus == nil)
        #expect(identity.transferSubject == nil)
    }

    /// Apple sent strings in 2021, and booleans in 2025.
    @Test(arguments: ["true", #""true""#, "1"], ["true", #""tr\u0075e""#, "1"])
    func `a private relay address, with booleans in each of their forms`(verified: String, isPrivate: String) throws {
        let identity = try SignIn.apple.with("email", #""zdfu7jtuus@privaterelay.appleid.com""#)
            .with("email_verified", verified).with("is_private_email", isPrivate).verify().identity
        #expect(identity.email == "zdfu7jtuus@privaterelay.appleid.com")
        #expect(identity.isEmailVerified == true)
        #expect(identity.isPrivateEmail == true)
        #expect(identity.emailTrust == .authoritative)
    }

    @Test(arguments: ["false", #""false""#, "0"])
    func `an address that Apple has not verified`(verified: String) throws {
        let identity = try SignIn.apple.with("email", #""a@icloud.com""#).with("email_verified", verified)
            .with("is_private_email", verified).verify().identity
        #expect(identity.isEmailVerified == false)
        #expect(identity.isPrivateEmail == false)
        #expect(identity.emailTrust == .unverified)
    }

    @Test(arguments: [
        "a@privaterelay.appleid.com", "a@private.icloud.com", "a@PrivateRelay.AppleID.com", "A@PRIVATE.ICLOUD.COM",
    ])
    func `both relay domains are private, whatever the claim says`(email: String) throws {
        #expect(try identity(email).isPrivateEmail == true)
        #expect(try identity(email, private: "false").isPrivateEmail == true)
        #expect(try identity(email, private: #""false""#).isPrivateEmail == true)
        #expect(try identity(email, private: "true").isPrivateEmail == true)
        #expect(try identity(email).emailTrust == .authoritative)
    }

    @Test(arguments: [
        "a@icloud.com", "a@me.com", "a@mac.com", "a@gmail.com", "a@appleid.com", "a@x.privaterelay.appleid.com",
        "a@xprivaterelay.appleid.com", "a@privaterelay.appleid.com.evil.example", "a@privaterelay.appleid.co",
        "privaterelay.appleid.com@evil.example", "a@xprivate.icloud.com",
        "a@pr\u{131}vate.icloud.com",
    ])
    func `no other domain is private, unless the claim says so`(email: String) throws {
        #expect(try identity(email).isPrivateEmail == false)
        #expect(try identity(email, private: "false").isPrivateEmail == false)
        #expect(try identity(email, private: #""true""#).isPrivateEmail == true)
    }

    @Test(arguments: [
        ("a@icloud.com", Identity.EmailTrust.authoritative), ("a@me.com", .authoritative),
        ("a@mac.com", .authoritative),
        ("a@ICLOUD.COM", .authoritative), ("a@gmail.com", .verified), ("a@apple.com", .verified),
        ("a@icloud.com.evil", .verified),
        ("a@xicloud.com", .verified), ("a@b.me.com", .verified),
    ])
    func `Apple runs icloud.com, me.com, mac.com and its relays, and nothing else`(
        email: String, trust: Identity.EmailTrust
    ) throws {
        #expect(try identity(email).emailTrust == trust)
        #expect(try SignIn.apple.with("email", "\"\(email)\"").verify().identity.emailTrust == .unverified)
    }

    @Test(arguments: [
        ("0", Identity.RealUserStatus.unsupported), ("1", .unknown), ("2", .likelyReal), ("3", nil), ("-1", nil),
        ("2.0", nil),
        (#""2""#, nil), ("true", nil), ("null", nil), ("[2]", nil), ("18446744073709551618", nil),
    ])
    func `real_user_status is one of three numbers`(json: String, status: Identity.RealUserStatus?) throws {
        #expect(try SignIn.apple.with("real_user_status", json).verify().identity.realUserStatus == status)
        // No other provider sends this claim.
        #expect(try SignIn.plain.with("real_user_status", json).verify().identity.realUserStatus == nil)
    }

    @Test func `transfer_sub is reported`() throws {
        #expect(
            try SignIn.apple.with("transfer_sub", #""760417.ebbf12acbc78e1be1668ba852d492d8a.1827""#).verify().identity
                .transferSubject == "760417.ebbf12acbc78e1be1668ba852d492d8a.1827")
        #expect(try SignIn.apple.with("transfer_sub", "5").verify().identity.transferSubject == nil)
    }

    @Test func `the app's one-time name fills in what the token never has`() throws {
        func named(_ given: String?, _ family: String?) throws -> Identity {
            try SignIn.apple.expecting { $0.clientName = ClientName(givenName: given, familyName: family) }.verify()
                .identity
        }
        let both = try named("Ada", "Lovelace")
        #expect((both.givenName, both.familyName, both.name) == ("Ada", "Lovelace", "Ada Lovelace"))
        #expect(both.nameSource == .client)
        let given = try named("Ada", nil)
        #expect((given.givenName, given.familyName, given.name) == ("Ada", nil, "Ada"))
        #expect(given.nameSource == .client)
        let family = try named(nil, "Lovelace")
        #expect((family.givenName, family.familyName, family.name) == (nil, "Lovelace", "Lovelace"))
        #expect(family.nameSource == .client)
        let nothing = try named(nil, nil)
        #expect((nothing.givenName, nothing.familyName, nothing.name) == (nil, nil, nil))
        #expect(nothing.nameSource == nil)
    }

    @Test func `the app's name never changes the rest of the identity`() throws {
        let with = try SignIn.apple.expecting { $0.clientName = ClientName(givenName: "Ada", familyName: nil) }.verify()
            .identity
        let without = try SignIn.apple.verify().identity
        #expect(with.subject == without.subject && with.email == without.email && with.issuer == without.issuer)
        #expect(with.emailTrust == without.emailTrust && with.isEmailVerified == without.isEmailVerified)
    }

    @Test func `Apple's nonce is the hash of the raw one`() throws {
        let signIn = SignIn.apple.with("nonce", #""0823a09b54cb9381561068b00aaf4e539b3f54604631d3e6a820879b6b04cc19""#)
        #expect(try signIn.expecting { $0.nonce = "n-0S6_WzA2Mj" }.verify().nonceMatch == .sha256Hex)
        #expect(
            signIn.expecting { $0.nonce = "0823a09b54cb9381561068b00aaf4e539b3f54604631d3e6a820879b6b04cc19" }.rejection
                == .nonceMismatch)
        #expect(
            SignIn.apple.with("nonce", #""n-0S6_WzA2Mj""#).expecting { $0.nonce = "n-0S6_WzA2Mj" }.rejection
                == .nonceMismatch)
    }

    @Test func `Apple signs with RS256 only, and is one issuer`() {
        var signIn = SignIn.apple
        signIn.algorithm = "PS256"
        #expect(signIn.rejection == .algorithmNotAllowed)
        signIn.algorithm = nil
        signIn.key = .p256
        #expect(signIn.rejection == .algorithmNotAllowed)
        #expect(SignIn.apple.with("iss", #""https://account.apple.com""#).rejection == .issuerMismatch)
        #expect(
            SignIn.apple.with("iss", #""https://account.apple.com""#)
                .policy { $0.issuerAliases = ["https://account.apple.com"] }.rejection == nil)
    }

    /// Signed with the same keys, for the same audience.
    @Test func `a server-to-server notification is no ID Token`() {
        let notification = SignIn.apple.with("events", #""{\"type\":\"email-disabled\",\"sub\":\"001234\"}""#)
        #expect(notification.rejection == .invalid("events"))
        #expect(notification.without("sub").rejection == .missing("sub"))
    }
}
