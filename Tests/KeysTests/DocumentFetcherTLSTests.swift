import HTTP
import Keys
import NIOSSL
import Testing

@Suite struct DocumentFetcherTLSTests {
    /// Deleted with their files after the test.
    private let certificates: Certificates

    init() throws { certificates = try Certificates.make() }

    private func fetchOverTLS(
        _ kind: Certificates.Kind, host: String = "localhost", trustingAuthority: Bool = true,
        _ change: (inout TLSConfiguration) -> Void = { _ in }
    ) async throws -> [UInt8] {
        var tls = try certificates.make(kind).serverConfiguration()
        change(&tls)
        let fetcher = DocumentFetcher.onLoopback { rules in
            if trustingAuthority { rules.caFile = certificates.authority }
        }
        return try await RawServer.run(tls: tls, answering: { _ in .bytes(RawServer.response("{}")) }) {
            server async throws in
            let result: Result<[UInt8], any Error>
            do {
                result = .success(
                    try await fetcher.fetch(server.address("/", scheme: "https", host: host)).body)
            } catch {
                result = .failure(error)
                // A server without a valid certificate receives no request, not even from the diagnosis.
                #expect(server.requests == [])
            }
            return try result.get()
        }
    }

    @Test func `a certificate by a configured authority is trusted`() async throws {
        #expect(try await fetchOverTLS(.localhost) == Array("{}".utf8))
        // The name is sent in lower case and must match the certificate.
        #expect(try await fetchOverTLS(.localhost, host: "LOCALHOST") == Array("{}".utf8))
    }

    // MARK: Invalid certificates

    private static let remedy = "to trust it, add its CA to network.ca_file"

    @Test(arguments: [
        (Certificates.Kind.expired, "the server's certificate has expired"),
        (.notYetValid, "the server's certificate is not yet valid"),
        (.selfSigned, "the server's certificate is self-signed and not trusted: \(remedy)"),
        (.otherHost, "the certificate is not for this host, but for \"other.example\""),
    ])
    func `an expired, unknown or wrong certificate is not trusted, with the reason`(
        kind: Certificates.Kind, message: String
    ) async throws {
        let failure = await #expect(throws: FetchFailure.self) { try await fetchOverTLS(kind) }
        #expect(failure == FetchFailure(.tls, message))
    }

    @Test func `a certificate by an authority that nobody configured is not`() async throws {
        let failure = await #expect(throws: FetchFailure.self) {
            try await fetchOverTLS(.localhost, trustingAuthority: false)
        }
        #expect(
            failure
                == FetchFailure(
                    .tls,
                    "the server's certificate is from an untrusted CA, or lacks an intermediate certificate: \(Self.remedy)"
                ))
    }

    @Test func `an intermediate CA alone is named as what is configured`() async throws {
        let (pair, intermediate) = try certificates.makeChain()
        try await RawServer.run(
            tls: try pair.serverConfiguration(), answering: { _ in .bytes(RawServer.response("{}")) }
        ) { server async throws in
            let failure = await #expect(throws: FetchFailure.self) {
                try await DocumentFetcher.onLoopback { $0.caFile = intermediate }
                    .fetch(server.address("/", scheme: "https", host: "localhost"))
            }
            #expect(
                failure
                    == FetchFailure(
                        .tls,
                        "the CA of the server's certificate is in network.ca_file, but it is an intermediate CA, which is not trusted by itself: add its root CA, or, if that is there, check that both are valid now"
                    ))
        }
    }

    @Test func `of two faults, the one that trust can't fix is reported`() async throws {
        let failure = await #expect(throws: FetchFailure.self) {
            try await fetchOverTLS(.expired, trustingAuthority: false)
        }
        #expect(failure == FetchFailure(.tls, "the server's certificate has expired"))
    }

    @Test func `a certificate for a name is not one for an address`() async throws {
        let failure = await #expect(throws: FetchFailure.self) {
            try await fetchOverTLS(.localhost, host: "127.0.0.1")
        }
        #expect(failure == FetchFailure(.tls, "the certificate is not for this host, but for \"localhost\""))
    }

    @Test func `a common name alone is named as all there is`() async throws {
        let failure = await #expect(throws: FetchFailure.self) {
            try await fetchOverTLS(.commonName, host: "127.0.0.1")
        }
        #expect(
            failure
                == FetchFailure(
                    .tls,
                    "the certificate is not for this host: it has no names in subjectAltName, and its common name is \"localhost\""
                ))
    }

    @Test func `TLS before 1.2 is not spoken, and no certificate blamed for it`() async throws {
        let failure = await #expect(throws: FetchFailure.self) {
            try await fetchOverTLS(
                .localhost,
                { tls in
                    tls.minimumTLSVersion = .tlsv1
                    tls.maximumTLSVersion = .tlsv11
                })
        }
        #expect(failure == FetchFailure(.tls, "the TLS handshake failed: does the server speak TLS 1.2 or later?"))
    }

    @Test func `a certificate whose signature could be forged is not trusted, whoever made it`() async throws {
        let failure = await #expect(throws: FetchFailure.self) { try await fetchOverTLS(.weaklySigned) }
        #expect(
            failure
                == FetchFailure(.tls, "the server's certificate is signed with SHA-1 or weaker, which can be forged"))
    }

    // MARK: Servers

    @Test func `a server that speaks no TLS is a failure of TLS`() async throws {
        try await RawServer.run(answering: { _ in .bytes(RawServer.response("{}")) }) { server async throws in
            // A TLS handshake contains no empty line, so the server keeps waiting. Whatever it sends is not a TLS
            // record.
            let failure = await #expect(throws: FetchFailure.self) {
                try await DocumentFetcher.onLoopback { $0.totalTimeout = Interval(milliseconds: 500) }
                    .fetch(server.address("/", scheme: "https"))
            }
            #expect(failure != nil)
        }
    }

    @Test func `a redirect from https to http is not followed`() async throws {
        let tls = try certificates.make(.localhost).serverConfiguration()
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
        let tls = try certificates.make(.localhost).serverConfiguration()
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
                // The proxy resolves the name, which does not resolve here.
                try await DocumentFetcher.onLoopback(proxy: environment) { $0.allowPrivateAddresses = false }.fetch(
                    "https://keys.invalid/a")
            }
            #expect(
                failure
                    == FetchFailure(
                        .connect,
                        "the proxy refused the connection (status 407): it needs a user name and a password that it accepts, in HTTPS_PROXY as http://user:password@host:port"
                    ))
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
