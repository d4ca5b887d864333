import Clocks
import KeySource
import NIOSSL
import Testing

@Suite struct DocumentFetcherTLSTests {
    /// Removed with their files when the test is over.
    private let certificates: Certificates

    init() throws { certificates = try Certificates.make() }

    private func fetchOverTLS(
        _ pair: (Certificates) -> Certificates.Pair, host: String = "localhost", trustingAuthority: Bool = true,
        _ change: (inout TLSConfiguration) -> Void = { _ in }
    ) async throws -> [UInt8] {
        var tls = try pair(certificates).serverConfiguration()
        change(&tls)
        let fetcher = DocumentFetcher.onLoopback { rules in
            if trustingAuthority { rules.caFile = certificates.authority }
        }
        return try await RawServer.run(tls: tls, answering: { _ in .bytes(RawServer.response("{}")) }) {
            server async throws in
            try await fetcher.fetch(server.address("/", scheme: "https", host: host)).body
        }
    }

    @Test func `a certificate by a configured authority is trusted`() async throws {
        #expect(try await fetchOverTLS(\.localhost) == Array("{}".utf8))
        // The name goes along in lower case, and the certificate is for it.
        #expect(try await fetchOverTLS(\.localhost, host: "LOCALHOST") == Array("{}".utf8))
    }

    @Test func `a certificate by an authority that nobody configured is not`() async throws {
        let failure = await #expect(throws: FetchFailure.self) {
            try await fetchOverTLS(\.localhost, trustingAuthority: false)
        }
        #expect(failure?.phase == .tls)
    }

    @Test func `a certificate for another host, of another time or by nobody is not`() async throws {
        for pair in [\Certificates.otherHost, \.expired, \.selfSigned] {
            let failure = await #expect(throws: FetchFailure.self) {
                try await fetchOverTLS { $0[keyPath: pair] }
            }
            #expect(failure?.phase == .tls)
        }
    }

    @Test func `a certificate for a name is not one for an address`() async throws {
        let failure = await #expect(throws: FetchFailure.self) {
            try await fetchOverTLS(\.localhost, host: "127.0.0.1")
        }
        #expect(failure?.phase == .tls)
    }

    @Test func `TLS before 1.2 is not spoken`() async throws {
        let failure = await #expect(throws: FetchFailure.self) {
            try await fetchOverTLS(
                \.localhost,
                { tls in
                    tls.minimumTLSVersion = .tlsv1
                    tls.maximumTLSVersion = .tlsv11
                })
        }
        #expect(failure?.phase == .tls)
    }

    @Test func `a server that speaks no TLS is a failure of TLS`() async throws {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("{}")) }) { server async throws in
            // A handshake has no empty line in it, so the server waits; what comes back is no TLS record either way.
            let failure = await #expect(throws: FetchFailure.self) {
                try await DocumentFetcher.onLoopback { $0.totalTimeout = Interval(milliseconds: 500) }
                    .fetch(server.address("/", scheme: "https"))
            }
            #expect(failure != nil)
        }
    }

    @Test func `a redirect from https to http is not followed`() async throws {
        let tls = try certificates.localhost.serverConfiguration()
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("{}")) }) { plain async throws in
            let location = plain.address("/")
            try await RawServer.run(
                tls: tls,
                answering: { _ in
                    .bytes("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
                }
            ) { secure async throws in
                let failure = await #expect(throws: FetchFailure.self) {
                    try await DocumentFetcher.onLoopback { $0.caFile = certificates.authority }
                        .fetch(secure.address("/", scheme: "https", host: "localhost"))
                }
                #expect(failure == FetchFailure(.http, "a redirect from https to http is not followed"))
                #expect(plain.requests == [])
            }
        }
    }

    @Test func `a file of authorities that is not there is a failure of TLS or of the fetch, not a hole`() async throws
    {
        let tls = try certificates.localhost.serverConfiguration()
        try await RawServer.run(tls: tls, answering: { _ in .bytes(RawServer.response("{}")) }) { server async throws in
            _ = await #expect(throws: FetchFailure.self) {
                try await DocumentFetcher.onLoopback { $0.caFile = certificates.authority + ".missing" }
                    .fetch(server.address("/", scheme: "https", host: "localhost"))
            }
        }
    }

    // MARK: Proxies

    @Test func `https goes by way of the proxy, which is told name and credentials`() async throws {
        try await RawServer.run(answering: { _ in
            .bytes("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        }) { proxy async throws in
            let environment = try ProxyEnvironment(["HTTPS_PROXY": "http://us%65r:pass@127.0.0.1:\(proxy.port)"])
            let failure = await #expect(throws: FetchFailure.self) {
                // The proxy resolves the name; nobody here could.
                try await DocumentFetcher.onLoopback(proxy: environment) { $0.allowPrivateAddresses = false }.fetch(
                    "https://keys.invalid/a")
            }
            #expect(failure == FetchFailure(.connect, "the proxy refused the connection"))
            let request = try #require(proxy.requests.first).lowercased()
            #expect(request.hasPrefix("connect keys.invalid:443 http/1.1\r\n"))
            #expect(request.contains("proxy-authorization: basic dxnlcjpwyxnz"))
        }
    }

    @Test func `http and excepted hosts don't go by way of the proxy`() async throws {
        try await RawServer.run(answering: { _ in .silence }) { proxy async throws in
            let environment = try ProxyEnvironment(["HTTPS_PROXY": "127.0.0.1:\(proxy.port)", "NO_PROXY": "localhost"])
            try await RawServer.run(answering: { _ in .bytes(RawServer.response("{}")) }) { server async throws in
                _ = try await DocumentFetcher.onLoopback(proxy: environment).fetch(server.address("/"))
                _ = await #expect(throws: FetchFailure.self) {
                    try await DocumentFetcher.onLoopback(proxy: environment) {
                        $0.totalTimeout = Interval(milliseconds: 300)
                    }
                    .fetch(server.address("/", scheme: "https", host: "localhost"))
                }
            }
            #expect(proxy.requests == [])
        }
    }
}
