import HTTP
import JOSE
import Keys
import Synchronization
import Testing
import TestSupport

@Suite struct KeyFetcherTests {
    private static func fetcher(_ location: KeyLocation.Network) -> ProviderKeyFetcher {
        ProviderKeyFetcher(location, documents: .onLoopback(unixSeconds: { 1_700_000_000 }))
    }

    private static func answer(_ head: String, _ pages: [String: String]) -> RawServer.Answer {
        let path = String(head.split(separator: " ")[1])
        guard let page = pages[path] else { return .bytes(RawServer.response("", status: "404 Not Found")) }
        return .bytes(RawServer.response(page, ["Cache-Control: max-age=600"]))
    }

    @Test func `keys are fetched from where they are pinned`() async throws {
        let set = text(KeySets.json(["a", "b"]))
        try await RawServer.run(answering: { Self.answer($0, ["/keys": set]) }) { server async throws in
            let fetched = try await Self.fetcher(.jwkSet(address: server.address("/keys"))).fetch(.reload)
            #expect(fetched.keys.keys.map(\.keyID) == ["a", "b"])
            #expect(try JWKSet(fetched.keys.json).fingerprint == JWKSet(Array(set.utf8)).fingerprint)
            #expect(fetched.algorithms == .all)
            #expect(fetched.source == .network)
            #expect(fetched.lifetime == .seconds(600))
            #expect(fetched.fetchedAtUnixSeconds == 1_700_000_000)
            #expect(server.paths == ["/keys"])
        }
    }

    @Test func `keys of assay dev are fetched by assay dev alone`() async throws {
        let set = text(KeySets.json(["assay-dev-1"]))
        try await RawServer.run(answering: { Self.answer($0, ["/keys": set]) }) { server async throws in
            let location = KeyLocation.Network.jwkSet(address: server.address("/keys"))
            let failure = await #expect(throws: FetchFailure.self) {
                try await Self.fetcher(location).fetch(.reload)
            }
            #expect(failure?.message.contains("it is a key of assay dev") == true)
            let developing = ProviderKeyFetcher(
                location, documents: .onLoopback { $0.acceptsDevelopmentKeys = true })
            #expect(try await developing.fetch(.reload).keys.hasKey("assay-dev-1"))
        }
    }

    @Test func `keys are fetched from where the discovery document says, each time anew`() async throws {
        let set = text(KeySets.json(["a"]))
        try await RawServer.run(answering: { head in
            let host = Self.host(head)
            return Self.answer(
                head,
                [
                    "/d":
                        #"{"issuer":"https://a.example","jwks_uri":"http://\#(host)/k","id_token_signing_alg_values_supported":["ES256","none"]}"#,
                    "/k": set,
                ])
        }) { server async throws in
            let fetcher = Self.fetcher(
                .discovery(address: server.address("/d"), issuer: "https://a.example", readsAlgorithms: true))
            let fetched = try await fetcher.fetch(.reload)
            #expect(fetched.keys.hasKey("a"))
            #expect(fetched.algorithms == [.es256])
            _ = try await fetcher.fetch(.reload)
            #expect(server.paths == ["/d", "/k", "/d", "/k"])
            let other = Self.fetcher(
                .discovery(address: server.address("/d"), issuer: "https://b.example", readsAlgorithms: true))
            let failure = await #expect(throws: FetchFailure.self) { try await other.fetch(.reload) }
            #expect(failure?.phase == .parse)
            #expect(server.paths.last == "/d")
        }
    }

    @Test func `certificates by kid are keys too, and are kept as a JWK Set`() async throws {
        let certificates = json(.object(["a": .string(TestKey.rsa.certificate())]))
        try await RawServer.run(answering: { Self.answer($0, ["/certs": certificates]) }) { server async throws in
            let fetcher = Self.fetcher(.certificates(address: server.address("/certs")))
            let fetched = try await fetcher.fetch(.reload)
            #expect(fetched.keys.keys.map(\.keyID) == ["a"])
            #expect(fetched.lifetime == .seconds(600))
            #expect(try JWKSet(fetched.keys.json).keys.map(\.thumbprint) == fetched.keys.keys.map(\.thumbprint))
            #expect(try await fetcher.fetch(.reload).keys.fingerprint == fetched.keys.fingerprint)
        }
    }

    @Test(arguments: [
        ("[]", "the certificates are not one JSON object"),
        (
            #"{"a":"x"}"#,
            "the key set holds no key that can verify a signature: key 1 (kid \"a\"): it is not a PEM certificate of an RSA or EC key"
        ),
        (
            text(KeySets.json(["a"])),
            "the key set holds no key that can verify a signature: key 1 (kid \"keys\"): it is not a PEM certificate of an RSA or EC key"
        ),
    ])
    func `certificates that are none are a failure with a reason`(json: String, message: String) async throws {
        try await RawServer.run(answering: { Self.answer($0, ["/certs": json]) }) { server async throws in
            let failure = await #expect(throws: FetchFailure.self) {
                try await Self.fetcher(.certificates(address: server.address("/certs"))).fetch(.reload)
            }
            #expect(failure == FetchFailure(.parse, message))
        }
    }

    private static let known = "004cb65f-3ef7-4efa-a149-4f19b4c754c8"
    private static let unknown = "00000000-0000-0000-0000-000000000001"

    @Test func `public keys are fetched one by one, and those that are not there are left out`() async throws {
        let pem = TestKey.p256.publicKeyPEM()
        try await RawServer.run(answering: { Self.answer($0, ["/k/\(Self.known)": pem]) }) { server async throws in
            let fetcher = Self.fetcher(.publicKeys(address: server.address("/k/{kid}")))
            #expect(try await fetcher.fetch(.reload, keyIDs: []).keys.keys.isEmpty)
            #expect(server.paths == [])
            let fetched = try await fetcher.fetch(.reload, keyIDs: [Self.known, Self.unknown])
            #expect(fetched.keys.keys.map(\.keyID) == [Self.known])
            #expect(fetched.keys.keys[0].isUsable)
            #expect(server.paths == ["/k/\(Self.known)", "/k/\(Self.unknown)"])
            #expect(try JWKSet(fetched.keys.json).fingerprint == fetched.keys.fingerprint)
        }
    }

    @Test func `what is not a UUID never becomes part of a URL`() async throws {
        try await RawServer.run(answering: { Self.answer($0, [:]) }) { server async throws in
            let fetcher = Self.fetcher(.publicKeys(address: server.address("/{kid}")))
            for keyID in ["", "..", "a/b", "a?b", "@evil.example", Self.known.uppercased(), Self.known + "/"] {
                #expect(try await fetcher.fetch(.reload, keyIDs: [keyID]).keys.keys.isEmpty)
            }
            #expect(server.paths == [])
        }
    }

    @Test func `a document that is no public key is a failure`() async throws {
        let body = "<html></html>"
        try await RawServer.run(answering: { Self.answer($0, ["/\(Self.known)": body]) }) { server async throws in
            let failure = await #expect(throws: FetchFailure.self) {
                try await Self.fetcher(.publicKeys(address: server.address("/{kid}"))).fetch(
                    .reload, keyIDs: [Self.known])
            }
            #expect(
                failure == FetchFailure(.parse, "the document is not one public key in PEM (BEGIN PUBLIC KEY)"))
        }
    }

    private static let unreadable: [(String, String)] = [
        ("", "the key set is not a JSON object with an array of keys"),
        ("<html></html>", "the key set is not a JSON object with an array of keys"),
        ("[]", "the key set is not a JSON object with an array of keys"),
        (#"{"keys":{}}"#, "the key set is not a JSON object with an array of keys"),
        (#"{"keys":[],"keys":[]}"#, "the key set is not a JSON object with an array of keys"),
        (#"{"keys":[]}"#, "the key set holds no key that can verify a signature: it is empty"),
        (
            #"{"keys":[null,{"kty":"oct","k":"AAAA","kid":"a\u0007é"},{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"RSA","n":"!"}]}"#,
            "the key set holds no key that can verify a signature: key 1: it is not a JSON object; key 2 (kid \"a\\u{07}\\u{00E9}\"): it is a symmetric key: anyone who has read it can sign tokens; key 3: it is too small (RSA, 17 bits): the minimum is 2048 bits; key 4: it has no e"
        ),
        (
            #"{"keys":[1,1,1,1,1,1,1]}"#,
            "the key set holds no key that can verify a signature: "
                + (1...5).map { "key \($0): it is not a JSON object; " }.joined() + "and 2 more"
        ),
        (
            #"{"keys":[{"kty":"oct","k":"AAAA","kid":"a"}]}"#,
            "the key set holds no key that can verify a signature: key 1 (kid \"a\"): it is a symmetric key: anyone who has read it can sign tokens"
        ),
        (
            #"{"keys":["# + Array(repeating: "{}", count: 1025).joined(separator: ",") + "]}",
            "the key set holds more than 1024 keys"
        ),
    ]

    @Test(arguments: unreadable)
    func `a key set that is none is a failure with a reason`(json: String, message: String) async throws {
        try await RawServer.run(answering: { Self.answer($0, ["/keys": json]) }) { server async throws in
            let failure = await #expect(throws: FetchFailure.self) {
                try await Self.fetcher(.jwkSet(address: server.address("/keys"))).fetch(.reload)
            }
            #expect(failure == FetchFailure(.parse, message))
        }
    }

    @Test func `a discovery document that lists no algorithm of ours is a failure, unless the list does not count`()
        async throws
    {
        let set = text(KeySets.json(["a"]))
        for list in ["[]", #"["none","HS256"]"#] {
            try await RawServer.run(answering: { head in
                let host = Self.host(head)
                let document =
                    #"{"issuer":"https://a.example","jwks_uri":"http://\#(host)/k","id_token_signing_alg_values_supported":\#(list)}"#
                return Self.answer(head, ["/d": document, "/k": set])
            }) { server async throws in
                let failure = await #expect(throws: FetchFailure.self) {
                    try await Self.fetcher(
                        .discovery(address: server.address("/d"), issuer: "https://a.example", readsAlgorithms: true)
                    ).fetch(.reload)
                }
                #expect(
                    failure == FetchFailure(.parse, "the discovery document lists no algorithm that is supported"))
                let fetched = try await Self.fetcher(
                    .discovery(address: server.address("/d"), issuer: "https://a.example", readsAlgorithms: false)
                ).fetch(.reload)
                #expect(fetched.algorithms == .all)
            }
        }
    }

    // MARK: Caching

    /// The server's address from the client's view: the Host of its request.
    private static func host(_ head: String) -> Substring {
        head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("host: ") }!.dropFirst("host: ".count)
    }

    private static let confirmation = RawServer.Answer.bytes(
        "HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=900\r\n\r\n")

    @Test func `a refresh is content with the word that nothing has changed, document by document`() async throws {
        let set = text(KeySets.json(["a"]))
        try await RawServer.run(answering: { head in
            if head.contains("If-None-Match: \"v1\"") { return Self.confirmation }
            let document = #"{"issuer":"https://a.example","jwks_uri":"http://\#(Self.host(head))/k"}"#
            return .bytes(RawServer.response(head.hasPrefix("GET /d ") ? document : set, ["ETag: \"v1\""]))
        }) { server async throws in
            let fetcher = Self.fetcher(
                .discovery(address: server.address("/d"), issuer: "https://a.example", readsAlgorithms: true))
            let first = try await fetcher.fetch(.revalidate)
            #expect(!first.isNotModified)
            #expect(first.lifetime == nil)
            let second = try await fetcher.fetch(.revalidate)
            #expect(second.isNotModified)
            #expect(second.keys.fingerprint == first.keys.fingerprint)
            #expect(second.text == first.text)
            #expect(second.lifetime == .seconds(900))
            let third = try await fetcher.fetch(.reload)
            #expect(!third.isNotModified)
            #expect(server.paths == ["/d", "/k", "/d", "/k", "/d", "/k"])
            #expect(server.requests.map { $0.contains("If-None-Match") } == [false, false, true, true, false, false])
            #expect(server.requests.map { $0.contains("no-cache") } == [false, false, false, false, true, true])
        }
    }

    @Test func `keys that come whole are no confirmation, whatever was said of the discovery document`() async throws {
        let set = text(KeySets.json(["a"]))
        try await RawServer.run(answering: { head in
            if head.contains("If-None-Match") { return Self.confirmation }
            let document = #"{"issuer":"https://a.example","jwks_uri":"http://\#(Self.host(head))/k"}"#
            return head.hasPrefix("GET /d ")
                ? .bytes(RawServer.response(document, ["ETag: \"v1\""])) : .bytes(RawServer.response(set))
        }) { server async throws in
            let fetcher = Self.fetcher(
                .discovery(address: server.address("/d"), issuer: "https://a.example", readsAlgorithms: true))
            for _ in 0..<2 { #expect(try await !fetcher.fetch(.revalidate).isNotModified) }
            #expect(server.requests.map { $0.contains("If-None-Match") } == [false, false, true, false])
        }
    }

    @Test func `keys at another address are not asked about by what the old one sent`() async throws {
        let set = text(KeySets.json(["a"]))
        let moves = Mutex(0)
        try await RawServer.run(answering: { head in
            guard head.hasPrefix("GET /d ") else { return .bytes(RawServer.response(set, ["ETag: \"v1\""])) }
            let path = moves.withLock { count in
                count += 1
                return "/k\(count)"
            }
            return .bytes(
                RawServer.response(#"{"issuer":"https://a.example","jwks_uri":"http://\#(Self.host(head))\#(path)"}"#))
        }) { server async throws in
            let fetcher = Self.fetcher(
                .discovery(address: server.address("/d"), issuer: "https://a.example", readsAlgorithms: true))
            for _ in 0..<2 { _ = try await fetcher.fetch(.revalidate) }
            #expect(server.paths == ["/d", "/k1", "/d", "/k2"])
            #expect(!server.requests.contains { $0.contains("If-None-Match") })
        }
    }

    @Test func `what could not be used is not asked about, but what was used before`() async throws {
        let set = text(KeySets.json(["a"]))
        let answers = Mutex(0)
        try await RawServer.run(answering: { head in
            let number = answers.withLock { count in
                count += 1
                return count
            }
            if head.contains("If-None-Match: \"v1\""), number > 2 { return Self.confirmation }
            return .bytes(RawServer.response(number == 2 ? "<html>" : set, ["ETag: \"v\(number)\""]))
        }) { server async throws in
            let fetcher = Self.fetcher(.jwkSet(address: server.address("/keys")))
            _ = try await fetcher.fetch(.revalidate)
            let failure = await #expect(throws: FetchFailure.self) { try await fetcher.fetch(.revalidate) }
            #expect(failure?.phase == .parse)
            let confirmed = try await fetcher.fetch(.revalidate)
            #expect(confirmed.isNotModified)
            #expect(confirmed.keys.hasKey("a"))
        }
    }
}
