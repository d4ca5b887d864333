import Clocks
import Foundation
import JOSE
import KeySource
import NIOPosix
import TestSupport
import Testing

@Suite struct KeyFetcherTests {
    private static func fetcher(_ location: ProviderKeyFetcher.Location) -> ProviderKeyFetcher {
        var rules = NetworkRules()
        rules.allowHTTP = true
        rules.allowPrivateAddresses = true
        let documents = DocumentFetcher(
            rules: rules, proxy: nil, loop: MultiThreadedEventLoopGroup.singleton.next(), resolverThreads: .singleton)
        return ProviderKeyFetcher(location, documents: documents, unixSeconds: { 1_700_000_000 })
    }

    private static func answer(_ head: String, _ pages: [String: String]) -> RawServer.Answer {
        let path = String(head.split(separator: " ")[1])
        guard let page = pages[path] else { return .bytes(RawServer.response("", status: "404 Not Found")) }
        return .bytes(RawServer.response(page, ["Cache-Control: max-age=600"]))
    }

    @Test func `keys are fetched from where they are pinned`() async throws {
        let set = text(KeySets.json(["a", "b"]))
        try await RawServer.run(answering: { Self.answer($0, ["/keys": set]) }) { server async throws in
            let fetched = try await Self.fetcher(.jwks(address: server.address("/keys"))).fetch()
            #expect(fetched.keys.keys.map(\.keyID) == ["a", "b"])
            #expect(fetched.text == Array(set.utf8))
            #expect(fetched.algorithms == Set(SignatureAlgorithm.allCases))
            #expect(fetched.source == .network)
            #expect(fetched.lifetime == .seconds(600))
            #expect(fetched.fetchedAtUnixSeconds == 1_700_000_000)
            #expect(server.paths == ["/keys"])
        }
    }

    @Test func `keys are fetched from where the discovery document says, each time anew`() async throws {
        let set = text(KeySets.json(["a"]))
        try await RawServer.run(answering: { head in
            // The address of this server, as the client knows it.
            let host = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("host: ") }!.dropFirst(
                "host: ".count)
            return Self.answer(
                head,
                [
                    "/d":
                        #"{"issuer":"https://a.example","jwks_uri":"http://\#(host)/k","id_token_signing_alg_values_supported":["ES256","none"]}"#,
                    "/k": set,
                ])
        }) { server async throws in
            let fetcher = Self.fetcher(.discovery(address: server.address("/d"), issuer: "https://a.example"))
            let fetched = try await fetcher.fetch()
            #expect(fetched.keys.hasKey("a"))
            #expect(fetched.algorithms == [.es256])
            _ = try await fetcher.fetch()
            #expect(server.paths == ["/d", "/k", "/d", "/k"])
            let other = Self.fetcher(.discovery(address: server.address("/d"), issuer: "https://b.example"))
            let failure = await #expect(throws: FetchFailure.self) { try await other.fetch() }
            #expect(failure?.phase == .parse)
            #expect(server.paths.last == "/d")
        }
    }

    private static let unreadable: [(String, String)] = [
        ("", "the key set is not a JSON object with an array of keys"),
        ("<html></html>", "the key set is not a JSON object with an array of keys"),
        ("[]", "the key set is not a JSON object with an array of keys"),
        (#"{"keys":{}}"#, "the key set is not a JSON object with an array of keys"),
        (#"{"keys":[],"keys":[]}"#, "the key set is not a JSON object with an array of keys"),
        (#"{"keys":[]}"#, "the key set holds no key that can verify a signature"),
        (#"{"keys":[null,1,"x",{}]}"#, "the key set holds no key that can verify a signature"),
        (#"{"keys":[{"kty":"oct","k":"AAAA","kid":"a"}]}"#, "the key set holds no key that can verify a signature"),
        (
            #"{"keys":["# + Array(repeating: "{}", count: 1025).joined(separator: ",") + "]}",
            "the key set holds more than 1024 keys"
        ),
    ]

    @Test(arguments: unreadable)
    func `a key set that is none is a failure with a reason`(json: String, message: String) async throws {
        try await RawServer.run(answering: { Self.answer($0, ["/keys": json]) }) { server async throws in
            let failure = await #expect(throws: FetchFailure.self) {
                try await Self.fetcher(.jwks(address: server.address("/keys"))).fetch()
            }
            #expect(failure == FetchFailure(.parse, message))
        }
    }

    // MARK: Files

    private func fetchFile(_ bytes: [UInt8]?) async throws -> FetchedKeys {
        let file = FileManager.default.temporaryDirectory.appending(path: "assay-keys-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        if let bytes { try Data(bytes).write(to: file) }
        return try await FileKeyFetcher(path: file.path, threads: .singleton, unixSeconds: { 1_700_000_000 }).fetch()
    }

    @Test func `keys are read from a file`() async throws {
        let fetched = try await fetchFile(KeySets.json(["a"]))
        #expect(fetched.keys.hasKey("a"))
        #expect(fetched.source == .file)
        #expect(fetched.lifetime == nil)
        #expect(fetched.algorithms == Set(SignatureAlgorithm.allCases))
    }

    @Test func `a file that is missing, too large or no key set is a failure with a reason`() async throws {
        func failure(_ bytes: [UInt8]?) async -> FetchFailure? {
            await #expect(throws: FetchFailure.self) { try await fetchFile(bytes) }
        }
        #expect(await failure(nil) == FetchFailure(.file, "the file can't be read"))
        let large = [UInt8](repeating: 0x20, count: 512 * 1024 + 1)
        #expect(await failure(large) == FetchFailure(.file, "the file is larger than 524288 bytes"))
        #expect(await failure([0x7b])?.phase == .parse)
        let padded = KeySets.json(["a"])
        #expect(try await fetchFile(padded + large.prefix(512 * 1024 - padded.count)).keys.hasKey("a"))
    }
}
