import JOSE
import OpenSSL
import Testing
import TestSupport

/// The examples of encrypted tokens in RFC 7516 and RFC 7520, what can be changed in them, and Wycheproof's.
@Suite struct EncryptedTokens {
    private struct Example {
        let jwe: String
        let plaintext: String
        let keyID: String?
        let algorithm: KeyManagementAlgorithm
        let key: DecryptionKey

        init(_ reference: String) throws {
            let all = try #require(try Vectors.json("rfc/rfc7516_rfc7520_jwe.json").array)
            let example = try #require(try all.first { try $0.text("ref") == reference })
            jwe = try example.text("jwe")
            plaintext = try example.text("plaintext")
            keyID = example["kid"]?.string
            algorithm = try #require(KeyManagementAlgorithm(rawValue: example.text("alg")))
            key = try DecryptionKey(pem: Array(example.text("key").utf8).span)
        }

        var parts: [String] { jwe.split(separator: ".", omittingEmptySubsequences: false).map(String.init) }

        func named(_ id: String) throws -> EncryptionKey { try #require(EncryptionKey(id: id, key, [algorithm])) }
    }

    private static let references = ["RFC 7516 A.1", "RFC 7520 5.4", "RFC 7520 5.5"]

    private func decrypter(_ keys: [EncryptionKey]) -> JWEDecrypter {
        JWEDecrypter(
            keys, algorithms: Set(KeyManagementAlgorithm.allCases), content: Set(ContentAlgorithm.allCases))
    }

    private func opened(_ jwe: String, _ keys: [EncryptionKey]) -> Result<[UInt8], JWEError> {
        Result { () throws(JWEError) in try decrypter(keys).decrypt(CompactJWE(Array(jwe.utf8)[...])) }
    }

    private func opened(_ example: Example, _ parts: [String]? = nil) throws -> Result<[UInt8], JWEError> {
        opened((parts ?? example.parts).joined(separator: "."), [try example.named(example.keyID ?? "any")])
    }

    @Test(arguments: references)
    func `each example is opened`(reference: String) throws {
        let example = try Example(reference)
        #expect(try opened(example) == .success(Array(example.plaintext.utf8)))
    }

    @Test func `a key of 4096 bits is too long`() {
        #expect(throws: PrivateKeyError.tooLargeForEncryption(bits: 4096)) { try Example("RFC 7520 5.2") }
    }

    @Test(arguments: references)
    func `a changed bit of any part but the header is not opened`(reference: String) throws {
        let example = try Example(reference)
        for (index, part) in example.parts.enumerated() where index > 0 && !part.isEmpty {
            let octets = try decoded(part)
            for place in [0, octets.count / 2, octets.count - 1] {
                for bit in [UInt8(1), 0x80] {
                    var changed = octets
                    changed[place] ^= bit
                    var parts = example.parts
                    parts[index] = base64URL(changed)
                    #expect(try opened(example, parts) == .failure(.decryptionFailed), "part \(index), octet \(place)")
                }
            }
        }
    }

    @Test(arguments: references)
    func `another length of any part but the header is not opened`(reference: String) throws {
        let example = try Example(reference)
        for (index, part) in example.parts.enumerated() where index > 0 {
            let octets = try decoded(part)
            var others: [[UInt8]] = [octets + [0], octets + octets, [1, 2, 3]]
            for length in [0, 1, 4, 8, 12, 15] where length < octets.count {
                others.append(Array(octets.prefix(length)))
            }
            if !octets.isEmpty { others.append(Array(octets.dropLast())) }
            for other in others where other != octets {
                var parts = example.parts
                parts[index] = base64URL(other)
                #expect(
                    try opened(example, parts) == .failure(.decryptionFailed), "part \(index), \(other.count) octets")
            }
        }
    }

    /// The header with another member, or without one. Its tag is wrong then, so only errors that come first differ.
    private func with(_ example: Example, _ name: String, _ value: JSONTree?) throws -> [String] {
        let header = try decoded(example.parts[0])
        var members = try #require(JSONTree(readingObject: header).object)
        members[name] = value
        return [base64URL(json(.object(members)))] + example.parts.dropFirst()
    }

    @Test(arguments: references)
    func `what the header shows is refused before anything is decrypted`(reference: String) throws {
        let example = try Example(reference)
        let refusals: [(String, JSONTree?, JWEError)] = [
            ("alg", .string("RSA1_5"), .algorithmNotAllowed), ("alg", .string("dir"), .algorithmNotAllowed),
            ("alg", .string("A256KW"), .algorithmNotAllowed), ("alg", .string("rsa-oaep"), .algorithmNotAllowed),
            ("alg", .string("PBES2-HS256+A128KW"), .algorithmNotAllowed), ("alg", nil, .algorithmNotAllowed),
            ("enc", .string("A128CTR"), .algorithmNotAllowed), ("enc", nil, .algorithmNotAllowed),
            ("zip", .string("DEF"), .headerUnsupported), ("zip", .null, .headerUnsupported),
            ("crit", .array([.string("exp")]), .headerUnsupported), ("b64", .bool(true), .headerUnsupported),
            ("cty", .string("json"), .headerUnsupported), ("cty", .string("application/jwt"), .headerUnsupported),
            ("alg", .integer(1), .malformed(.header)), ("kid", .integer(1), .malformed(.header)),
            ("cty", .bool(true), .malformed(.header)), ("apu", .string("a="), .malformed(.header)),
            ("apv", .integer(1), .malformed(.header)), ("epk", .string("x"), .malformed(.header)),
            ("kid", .string("another"), .decryptionFailed), ("cty", .string("jWt"), .decryptionFailed),
            ("apu", .string("QWxpY2U"), .decryptionFailed),
        ]
        for (name, value, error) in refusals {
            #expect(
                try opened(example, with(example, name, value)) == .failure(error),
                "\(name): \(String(describing: value))")
        }
    }

    @Test(arguments: ["RFC 7520 5.4", "RFC 7520 5.5"])
    func `an epk that is no point of the key's curve is not opened`(reference: String) throws {
        let example = try Example(reference)
        let header = try decoded(example.parts[0])
        let epk = try #require(JSONTree(readingObject: header)["epk"]?.object)
        let x = try #require(epk["x"]?.string)
        let other: JSONTree = .string(epk["crv"] == .string("P-256") ? "P-384" : "P-256")
        let zero: JSONTree = .string(base64URL([UInt8](repeating: 0, count: x.utf8.count * 3 / 4)))
        let changes: [[String: JSONTree?]] = [
            ["x": zero], ["y": zero], ["x": zero, "y": zero], ["y": .string(x)], ["y": nil], ["x": nil], ["crv": nil],
            ["crv": other], ["crv": .string("X25519")], ["crv": .string("secp256k1")], ["kty": .string("OKP")],
            ["kty": nil], ["x": .string("AA" + x)], ["x": .string(x + "=")], ["d": .string(x)],
            ["x": .string(base64URL([UInt8](repeating: 0xff, count: x.utf8.count * 3 / 4)))],
        ]
        for change in changes {
            var changed = epk
            for (name, value) in change { changed[name] = value }
            #expect(
                try opened(example, with(example, "epk", .object(changed))) == .failure(.decryptionFailed), "\(change)")
        }
        #expect(try opened(example, with(example, "epk", nil)) == .failure(.decryptionFailed))
    }

    @Test func `the key is the one that kid names, or the only one that fits`() throws {
        let (named, unnamed) = (try Example("RFC 7520 5.5"), try Example("RFC 7516 A.1"))
        let other = try EncryptionKey(id: "other", DecryptionKey(generating: .agreement(.p256)), [.ecdhES])
        let right = try named.named(try #require(named.keyID))
        let keys = [try #require(other), right]
        #expect(opened(named.jwe, keys) == .success(Array(named.plaintext.utf8)))
        #expect(opened(named.jwe, [keys[0]]) == .failure(.decryptionFailed))
        let misnamed = try named.named("another id")
        #expect(opened(named.jwe, [misnamed]) == .failure(.decryptionFailed))
        #expect(opened(named.jwe, []) == .failure(.decryptionFailed))

        let (rsa, second) = (try unnamed.named("1"), try unnamed.named("2"))
        #expect(opened(unnamed.jwe, [rsa, right]) == .success(Array(unnamed.plaintext.utf8)))
        #expect(opened(unnamed.jwe, [rsa, second]) == .failure(.decryptionFailed))
        let of256 = try #require(EncryptionKey(id: "3", unnamed.key, [.rsaOAEP256]))
        #expect(opened(unnamed.jwe, [of256]) == .failure(.decryptionFailed))
        #expect(opened(unnamed.jwe, [rsa, of256]) == .success(Array(unnamed.plaintext.utf8)))
    }

    @Test func `only what is listed is allowed`() throws {
        let example = try Example("RFC 7520 5.4")
        let key = try example.named(try #require(example.keyID))
        let jwe = try CompactJWE(Array(example.jwe.utf8)[...])
        let lists: [([KeyManagementAlgorithm], [ContentAlgorithm])] = [
            ([.ecdhES], [.a128GCM]), ([.ecdhESA128KW], [.a256GCM]), ([], []),
        ]
        for (algorithms, content) in lists {
            let decrypter = JWEDecrypter([key], algorithms: Set(algorithms), content: Set(content))
            #expect(throws: JWEError.algorithmNotAllowed) { try decrypter.decrypt(jwe) }
        }
        #expect(EncryptionKey(id: "", example.key, [.ecdhES, .rsaOAEP]) == nil)
        #expect(EncryptionKey(id: "", example.key, []) == nil)
    }

    @Test func `the key agreement of RFC 7518 appendix C gives its key`() throws {
        let bob = try DecryptionKey(
            pem: Array(
                """
                -----BEGIN PRIVATE KEY-----
                MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVEmDZpDXXK8p8N0C
                ndsxs924q6nS1RXFASRl6BfUqdyhRANCAATB40nLYexwJIzoAQNMODThuI6+EWHL
                Ja84dB94X8/ExHvJZwjvgJUrU/jSVV/nK4Qe0EWIYosdN4pZSTlQDsnJ
                -----END PRIVATE KEY-----
                """.utf8
            ).span)
        let alice = try AgreementPoint(
            .p256, x: decoded("gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0"),
            y: decoded("SLW_xSffzlPWrHEVI30DHM_4egVwt3NQqeUD7nMFpps"))
        let agreed = try bob.agree(with: alice)
        #expect(agreed.isRight)
        var information: [UInt8] = []
        for party in ["A128GCM", "Alice", "Bob"] {
            information += [0, 0, 0, UInt8(party.utf8.count)] + Array(party.utf8)
        }
        information += [0, 0, 0, 128]
        let derived = try concatenationKey(from: agreed.octets, information, length: 16)
        #expect(
            try derived.withBytes { octets in octets.indices.map { octets[$0] } } == decoded("VqqN6vgjbSBcIijNcacQGg"))
    }

    @Test func `X25519 refuses points of small order`() throws {
        let key = try DecryptionKey(generating: .agreement(.x25519))
        for first in [UInt8(0), 1] {
            let point = AgreementPoint(.x25519, x: [first] + [UInt8](repeating: 0, count: 31), y: nil)
            #expect(try key.agree(with: point).isRight == false)
        }
        #expect(try key.agree(with: nil).isRight == false)
        #expect(AgreementPoint(.x25519, x: [9], y: nil) == nil)
    }

    @Test func `none of Wycheproof's tokens is opened by other keys, whatever is wrong with them`() throws {
        let keys = [
            EncryptionKey(
                id: "ec", try DecryptionKey(generating: .agreement(.p256)),
                [.ecdhES, .ecdhESA128KW, .ecdhESA192KW, .ecdhESA256KW]),
            EncryptionKey(
                id: "rsa", try DecryptionKey(generating: .rsa(modulusLength: 256)), [.rsaOAEP, .rsaOAEP256]),
        ].compactMap(\.self)
        var counts: [String: Int] = [:]
        let cases = try Vectors.json("wycheproof/jwe_compact_strings.json").list("jwe")
        for example in cases {
            let text = try example.text("jwe")
            guard case .failure(let error) = opened(text, keys) else {
                Issue.record("\(text) was opened")
                continue
            }
            let header = Base64URL.decode(Array(text.prefix { $0 != "." }.utf8).span)
            let algorithm = header.flatMap { try? JSONTree(readingObject: $0) }?["alg"]?.string
            let isKnown = algorithm.flatMap(KeyManagementAlgorithm.init) != nil
            switch error {
            case .decryptionFailed: #expect(isKnown)
            case .algorithmNotAllowed: #expect(!isKnown)
            case .malformed, .headerUnsupported, .cryptographyUnavailable: break
            }
            counts["\(error)", default: 0] += 1
        }
        #expect(counts.values.reduce(0, +) == 93)
        try VectorResults(source: "Wycheproof, encrypted tokens", cases: 93).record()
    }
}

private func decoded(_ text: some StringProtocol) throws -> [UInt8] {
    let octets = Base64URL.decode(Array(text.utf8).span)
    return try #require(octets)
}
