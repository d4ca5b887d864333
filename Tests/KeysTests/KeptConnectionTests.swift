import HTTP
import JOSE
import Keys
import Synchronization
import Testing
import TestSupport

/// The discovery document and the key set of one server share a connection.
@Suite struct KeptConnectionTests {
    /// Fetches keys from a server whose discovery document names a key set at the other address.
    private func fetch(
        keysAt address: @escaping @Sendable (_ port: Substring) -> String = { "http://127.0.0.1:\($0)/k" },
        answering answer: @escaping @Sendable (_ path: Substring, _ body: String) -> RawServer.Answer = {
            .bytes(RawServer.response($1))
        },
        cancellingAtKeys isCancelled: Bool = false,
        _ check: (RawServer, _ keyIDs: [String?]?) -> Void
    ) async throws {
        let keySet = text(KeySets.json(["a"]))
        try await RawServer.run(answering: { head in
            let path = head.split(separator: " ")[1]
            let port = head.split(separator: "\r\n").first { $0.hasPrefix("Host:") }?.split(separator: ":").last ?? ""
            let discovery =
                #"{"issuer":"https://a.example","jwks_uri":"\#(address(port))","id_token_signing_alg_values_supported":["ES256"]}"#
            return answer(path, path == "/d" ? discovery : keySet)
        }) { server async throws in
            let fetcher = ProviderKeyFetcher(
                .discovery(address: server.address("/d"), issuer: "https://a.example", readsAlgorithms: true),
                documents: .onLoopback())
            let fetching = Task { try? await fetcher.fetch(.reload).keys.keys.map(\.keyID) }
            if isCancelled {
                try await eventually { server.paths.contains("/k") }
                fetching.cancel()
            }
            check(server, await fetching.value)
            // Nothing is held between fetches.
            try await eventually { server.openConnections == 0 }
        }
    }

    @Test func `one connection for both, which is closed at the end`() async throws {
        try await fetch { server, keyIDs in
            #expect(keyIDs == ["a"])
            #expect(server.paths == ["/d", "/k"])
            #expect(server.openedConnections == 1)
        }
    }

    @Test func `another host, or another port, has one of its own`() async throws {
        try await fetch(keysAt: { "http://localhost:\($0)/k" }) { server, keyIDs in
            #expect(keyIDs == ["a"])
            #expect(server.openedConnections == 2)
        }
    }

    @Test(arguments: [[], ["Connection: close"]])
    func `a server that closes is connected to again`(fields: [String]) async throws {
        try await fetch(answering: { .bytesAndClose(RawServer.response($1, fields)) }) { server, keyIDs in
            #expect(keyIDs == ["a"])
            #expect(server.paths == ["/d", "/k"])
            #expect(server.openedConnections == 2)
        }
    }

    @Test func `a request that the server closes the old connection on is repeated, once`() async throws {
        let asked = Mutex(0)
        try await fetch(answering: { path, body in
            guard path == "/k",
                asked.withLock({
                    $0 += 1; return $0 == 1
                })
            else {
                return .bytes(RawServer.response(body))
            }
            return .bytesAndClose("")
        }) { server, keyIDs in
            #expect(keyIDs == ["a"])
            #expect(server.paths == ["/d", "/k", "/k"])
        }
        try await fetch(answering: { path, body in
            path == "/k" ? .bytesAndClose("") : .bytes(RawServer.response(body))
        }) { server, keyIDs in
            #expect(keyIDs == nil)
            #expect(server.paths == ["/d", "/k", "/k"])
        }
    }

    @Test func `what follows a response is not read as the next one`() async throws {
        try await fetch(answering: { path, body in
            let more = path == "/d" ? RawServer.response(text(KeySets.json(["forged"]))) : ""
            return .bytes(RawServer.response(body) + more)
        }) { server, keyIDs in
            #expect(keyIDs == ["a"])
            #expect(server.openedConnections == 2)
        }
    }

    @Test func `a fetch that is cancelled closes the connection that it uses again`() async throws {
        try await fetch(
            answering: { path, body in path == "/k" ? .silence : .bytes(RawServer.response(body)) },
            cancellingAtKeys: true
        ) { server, keyIDs in
            #expect(keyIDs == nil)
            #expect(server.openedConnections == 1)
        }
    }
}
