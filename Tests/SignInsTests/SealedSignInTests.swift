import IDToken
import JOSE
import OAuth
import OpenSSL
@testable import SignIns
import Testing
import Verification

@Suite struct SealedSignInTests {
    private static let salt = [UInt8](repeating: 7, count: 16)

    private static func signIn(context: String? = "/after?x=1", subject: String? = nil) -> SignIn {
        SignIn(
            provider: "apple", audience: "com.example.app", begunAt: UnixTime(seconds: 1_700_000_000),
            expiresAt: UnixTime(seconds: 1_700_000_600),
            maximumAuthenticationAgeSeconds: subject == nil ? nil : 0, subject: subject, issuer: nil, context: context,
            kind: .native(Nonce([UInt8](0..<24))!))
    }

    /// Browser sign-ins, with every way of being tied to one.
    private static var inBrowsers: [SignIn] {
        [(true, true), (true, false), (false, true), (false, false)].map { hasNonce, hasVerifier in
            var signIn = signIn()
            signIn.kind = .browser(
                BrowserSignIn(
                    state: State([UInt8](100..<124))!, nonce: hasNonce ? Nonce([UInt8](0..<24)) : nil,
                    verifier: hasVerifier ? CodeVerifier([UInt8](50..<82)) : nil,
                    redirectURI: "https://example.com/callback", issuer: "https://appleid.apple.com",
                    requiresResponseIssuer: hasNonce, profile: hasVerifier ? .fapi2 : nil))
            return signIn
        }
    }

    /// Browser sign-ins whose request asked for more.
    private static var asking: [SignIn] {
        [
            RequestedChecks(contextClasses: ["a", "urn:b"]), RequestedChecks(requiresAuthenticationTime: true),
            RequestedChecks(resources: ["https://a.example", ""]), RequestedChecks(responseIsSigned: true),
            RequestedChecks(hasFrontToken: true),
            RequestedChecks(
                contextClasses: [""], requiresAuthenticationTime: true, resources: ["b"], responseIsSigned: true,
                hasFrontToken: true),
        ].compactMap { requested in
            guard var signIn = inBrowsers.first, case .browser(var browser) = signIn.kind else { return nil }
            browser.requested = requested
            signIn.kind = .browser(browser)
            return signIn
        }
    }

    /// Sign-ins of customers' connections.
    private static var ofConnections: [SignIn] {
        let rules = [
            ClaimRule(ClaimPath("hd"), .oneOf, ["example.com", "example.org"]),
            ClaimRule(ClaimPath("/org/id"), .oneOf, ["7"]),
        ]
        var all: [SignIn] = []
        for signIn in [Self.signIn()] + inBrowsers + asking {
            all.append(connected(signIn, [], []))
            all.append(connected(signIn, rules, ["example.com"]))
        }
        return all
    }

    private static func connected(_ signIn: SignIn, _ rules: [ClaimRule], _ domains: [String]) -> SignIn {
        var connected = signIn
        connected.connection = Connection(
            id: "a/b c", issuer: "https://id.example.com", audience: signIn.audience, claimRules: rules,
            emailDomains: domains)
        if case .browser(var browser) = signIn.kind {
            browser.issuer = "https://id.example.com"
            connected.kind = .browser(browser)
        }
        return connected
    }

    private static func keys(_ octets: UInt8...) throws -> HandleKeys {
        try HandleKeys(texts: octets.map { octet in keyFile(octet) })
    }

    /// 32 times the same octet, in base64.
    private static func keyFile(_ octet: UInt8) -> [UInt8] {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let (one, two, three) = (UInt32(octet) << 16, UInt32(octet) << 8, UInt32(octet))
        let group = (0..<4).map { digits[Int((one | two | three) >> (18 - $0 * 6) & 63)] }
        let rest = (0..<3).map { digits[Int((one | two) >> (18 - $0 * 6) & 63)] }
        return (0..<10).flatMap { _ in group } + rest + Array("=\n".utf8)
    }

    @Test(arguments: [nil, "", "/after", String(repeating: "ü", count: 256)])
    func `what is sealed is opened`(context: String?) throws {
        let sealer = try SignInSealer(try Self.keys(1))
        let native = [Self.signIn(context: context), Self.signIn(context: context, subject: "001.a")]
        for signIn in native + Self.inBrowsers + Self.asking + Self.ofConnections {
            let sealed = try #require(try sealer.seal(signIn, salt: Self.salt))
            #expect(sealed.text.allSatisfy { $0.isURLSafe })
            #expect(try sealer.open(sealed)?.content == signIn)
        }
    }

    /// Those whose grant will be bound.
    private static func bound() throws -> [SignIn] {
        try ([signIn()] + inBrowsers + ofConnections + asking).map { signIn in
            var bound = signIn
            bound.proofKey = try ProofKey.made()
            return bound
        }
    }

    @Test func `keys are sealed too`() throws {
        let sealer = try SignInSealer(try Self.keys(1))
        for signIn in try Self.bound() {
            let sealed = try #require(try sealer.seal(signIn, salt: Self.salt))
            let opened = try #require(try sealer.open(sealed)).content
            #expect(opened == signIn && opened.proofKey == signIn.proofKey)
            #expect(try opened.proofKey?.signer().thumbprint == signIn.proofKey?.signer().thumbprint)
            let encoded = signIn.encoded
            for count in 0..<encoded.count {
                #expect(SignIn(encoded: encoded.span.extracting(..<count), signIn.version) == nil)
            }
            // A version without keys has no place for one.
            var without = signIn.version
            without.remove(.extraFields)
            #expect(SignIn(encoded: encoded.span, without) == nil)
        }
        #expect("\(try ProofKey.made())" == "(secret)")
    }

    @Test func `every version has an octet of its own`() {
        #expect((UInt8(1)...8).allSatisfy { HandleVersion(octet: $0)?.octet == $0 })
        #expect(HandleVersion(octet: 0) == nil && HandleVersion(octet: 9) == nil && HandleVersion(octet: 64) == nil)
        #expect(HandleVersion.native.octet == 1 && HandleVersion.browser.octet == 2)
    }

    @Test func `bindings are opened by their keys, and are no handles`() throws {
        let (sealer, other) = (try SignInSealer(try Self.keys(1)), try SignInSealer(try Self.keys(2)))
        let binding = GrantBinding(provider: "oidc", audience: "client", key: try ProofKey.made())
        let text = try binding.sealed(by: sealer)
        #expect(try GrantBinding.opened(text, by: sealer) == binding)
        #expect(try binding.sealed(by: sealer) != text)
        #expect(try GrantBinding.opened(text, by: other) == nil)
        #expect(try sealer.open(SealedSignIn(text: Array(text.utf8))) == nil)
        let handle = try #require(try sealer.seal(try Self.bound()[0], salt: Self.salt))
        #expect(try GrantBinding.opened(String(decoding: handle.text, as: UTF8.self), by: sealer) == nil)
        for index in text.indices {
            var changed = text
            changed.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
            #expect(try GrantBinding.opened(changed, by: sealer) == nil)
        }
    }

    /// Sealed by a release without sign-ins in the browser, with the key file of 32 ones.
    private static let earlier =
        "AUa5yI86-X2T3uuXrbUtPg5C5VobuRs5Ba00-Qsv4HT-LEWUp4BjDIAeiRxcgDoxcl7sLof7vbBsZiuVHXtrNTOSEN4yE4-1k6ZIu_V5t4rQbn-NvtTSUuRQ9r_7P7-Q3c85S4URqgtJbb-nngp7HATKvjFTuh0dpjwxLP5BKana"

    @Test func `a state may be as short as in earlier releases`() {
        #expect(State([UInt8](0..<16))?.text == "AAECAwQFBgcICQoLDA0ODw")
        #expect([15, 17, 23, 25].allSatisfy { State([UInt8](repeating: 0, count: $0)) == nil })
    }

    @Test func `native sign-ins are those of earlier releases`() throws {
        let sealer = try SignInSealer(try Self.keys(1))
        let opened = try #require(try sealer.open(SealedSignIn(text: Array(Self.earlier.utf8))))
        let content = opened.content
        #expect(content.nonce?.text == "Zh5EmtG7ns4Zs1F2_S7X5HaS2O_uAe4q")
        #expect(content.provider == "apple" && content.audience == "com.example.app" && content.context == "/basket")
        #expect(content.expiresAt == UnixTime(seconds: 1_795_496_038) && content.subject == "001.a")
        #expect(content.maximumAuthenticationAgeSeconds == 60)
        // And they open ours: the same content under the same salt is the same handle.
        #expect(try sealer.seal(content, salt: opened.salt)?.text == Array(Self.earlier.utf8))
    }

    @Test func `the contents of one version are none of the other`() throws {
        let browser = try #require(Self.inBrowsers.first)
        #expect(SignIn(encoded: browser.encoded.span, .native) == nil)
        #expect(SignIn(encoded: Self.signIn().encoded.span, .browser) == nil)
        #expect(SignIn(encoded: browser.encoded.span, .browser) == browser)
    }

    private static let asksForMore = [.browser, .extraFields] as HandleVersion

    @Test func `only sign-ins that ask for more have a new version`() {
        #expect(Self.inBrowsers.allSatisfy { $0.version == .browser })
        #expect(Self.asking.allSatisfy { $0.version == Self.asksForMore })
        #expect(Set(Self.ofConnections.map(\.version.octet)) == [3, 4, 8])
    }

    @Test func `a connection, and what was asked for, is no field that can be cut off`() {
        for signIn in Self.ofConnections + Self.asking {
            let encoded = signIn.encoded
            for count in 0..<encoded.count {
                #expect(SignIn(encoded: encoded.span.extracting(..<count), signIn.version) == nil)
            }
            #expect(SignIn(encoded: encoded.span, signIn.version) == signIn)
            let others: [HandleVersion] =
                [.native, .browser] + (signIn.version == Self.asksForMore ? [] : [Self.asksForMore])
            for version in others where SignIn(encoded: encoded.span, version) != nil {
                Issue.record("read as \(version)")
            }
        }
    }

    @Test(arguments: [0, 1])
    func `every bit of it counts`(kind: Int) throws {
        let sealer = try SignInSealer(try Self.keys(1))
        let text = try #require(
            try sealer.seal(kind == 0 ? Self.signIn() : Self.inBrowsers[0], salt: Self.salt)
        ).text
        for index in text.indices {
            for bit in 0..<8 {
                var changed = text
                changed[index] ^= 1 << bit
                #expect(try sealer.open(SealedSignIn(text: changed)) == nil)
            }
        }
        for count in 0..<text.count { #expect(try sealer.open(SealedSignIn(text: Array(text.prefix(count)))) == nil) }
        #expect(try sealer.open(SealedSignIn(text: text + Array("A".utf8))) == nil)
        #expect(try sealer.open(SealedSignIn(text: text + Array("AAAA".utf8))) == nil)
        #expect(try sealer.open(SealedSignIn(text: text + Array("=".utf8))) == nil)
    }

    @Test func `another installation's key opens nothing`() throws {
        let sealed = try #require(try SignInSealer(try Self.keys(1)).seal(Self.signIn(), salt: Self.salt))
        #expect(try SignInSealer(try Self.keys(2)).open(sealed) == nil)
        #expect(try SignInSealer(try HandleKeys.made()).open(sealed) == nil)
    }

    @Test func `a rotation accepts both keys`() throws {
        let (old, both, turned, new) = (
            try SignInSealer(try Self.keys(1)), try SignInSealer(try Self.keys(1, 2)),
            try SignInSealer(try Self.keys(2, 1)), try SignInSealer(try Self.keys(2))
        )
        let byOld = try #require(try both.seal(Self.signIn(), salt: Self.salt))
        for sealer in [old, both, turned] { #expect(try sealer.open(byOld) != nil) }
        #expect(try new.open(byOld) == nil)
        let byNew = try #require(try turned.seal(Self.signIn(), salt: Self.salt))
        for sealer in [both, turned, new] { #expect(try sealer.open(byNew) != nil) }
        #expect(try old.open(byNew) == nil)
    }

    @Test func `two handles of the same sign-in have nothing in common but version and key`() throws {
        let sealer = try SignInSealer(try Self.keys(1))
        let one = try #require(try sealer.seal(Self.signIn(), salt: Self.salt)).text
        let other = try #require(try sealer.seal(Self.signIn(), salt: [UInt8](repeating: 8, count: 16))).text
        // 9 octets take 12 characters.
        #expect(one.prefix(12) == other.prefix(12))
        #expect(one.dropFirst(34).elementsEqual(other.dropFirst(34)) == false)
        let equal = zip(one.dropFirst(34), other.dropFirst(34)).count { $0 == $1 }
        #expect(equal < one.count / 8)
    }

    @Test func `a handle has at most 2 KiB`() throws {
        let sealer = try SignInSealer(try Self.keys(1))
        var longest = Self.signIn()
        longest.context = String(repeating: "c", count: 512)
        longest.subject = String(repeating: "s", count: 850)
        var lengths: [Int] = []
        while let sealed = try sealer.seal(longest, salt: Self.salt) {
            lengths.append(sealed.text.count)
            longest.subject? += "s"
        }
        #expect(lengths.last == SealedSignIn.maximumLength)
    }

    @Test(arguments: ["", "AAAA", "AQ==", "e30", "eyJhbGciOiJub25lIn0.e30.", String(repeating: "A", count: 4096)])
    func `a string that is not a handle is not decrypted`(text: String) throws {
        #expect(try SignInSealer(try Self.keys(1)).open(SealedSignIn(text: Array(text.utf8))) == nil)
    }

    @Test func `key files are read strictly, and errors show nothing of them`() throws {
        #expect(throws: HandleKeyError.none) { try HandleKeys(texts: []) }
        #expect(throws: HandleKeyError.notBase64(index: 1)) {
            try HandleKeys(texts: [Self.keyFile(1), Array("not base64!".utf8)])
        }
        #expect(throws: HandleKeyError.wrongLength(index: 0, found: 3)) { try HandleKeys(texts: [Array("AAAA".utf8)]) }
        #expect(throws: HandleKeyError.wrongLength(index: 0, found: 0)) { try HandleKeys(texts: [[]]) }
        #expect(throws: HandleKeyError.twice(index: 1)) { try HandleKeys(texts: [Self.keyFile(1), Self.keyFile(1)]) }
        let made = try HandleKeys.newKeyFile()
        #expect(made.count == 45 && made.last == UInt8(ascii: "\n"))
        #expect(throws: Never.self) { try HandleKeys(texts: [made]) }
        #expect(try HandleKeys.newKeyFile() != made)
    }

    @Test func `a secret does not describe itself`() throws {
        let secret = try SecretBytes(Array("hunter2hunter2".utf8).span)
        var dumped = ""
        dump(secret, to: &dumped)
        #expect("\(secret)\(String(reflecting: secret))\(dumped)".contains("hunter2") == false)
    }
}

extension UInt8 {
    fileprivate var isURLSafe: Bool {
        let character = Character(UnicodeScalar(self))
        return character.isASCII && (character.isLetter || character.isNumber || character == "-" || character == "_")
    }
}
