import HTTP
import JOSE
import Keys
import NIOCore
import NIOHTTP1
import OpenSSL
@testable import Service
import Testing
import TestSupport

/// The console and the endpoints that it calls, on one event loop.
@Suite struct ConsoleTests {
    private static let paths = ["/console", "/console/console.css", "/console/console.js"]

    @Test(arguments: paths) func `the console is off by default`(path: String) async throws {
        try await ServiceFixture.run { service async throws in
            let response = try await service.send("GET", path, toAdmin: true)
            #expect(response.status == .notFound)
            #expect(try await service.send("POST", path, toAdmin: true).status == .notFound)
        }
    }

    @Test func `the root leads to a page that is on, whatever path a proxy puts before it`() async throws {
        try await ServiceFixture.run { service async throws in
            #expect(try await service.send("GET", "/", toAdmin: true).status == .notFound)
        }
        try await ServiceFixture.run {
            $0.servesConsole = true
            $0.operatorKeys = CallerKeys(digests: [[0]])
        } _: { service async throws in
            let response = try await service.send("GET", "/", toAdmin: true)
            #expect(response.status == .found)
            #expect(response.headers.first { "\($0.name)" == "Location" }?.value == "console")
            #expect(try await service.send("GET", "/").status == .notFound)
        }
    }

    @Test func `an unknown path on the console's listener is explained`() async throws {
        func detail(_ path: String, of service: ServiceFixture, toAdmin: Bool) async throws -> String {
            try #require(try await service.send("GET", path, toAdmin: toAdmin).json["detail"]?.string)
        }
        try await ServiceFixture.run { service async throws in
            for path in ["/nothing", "/openapi.yaml", "/v1/verify"] {
                let told = try await detail(path, of: service, toAdmin: true)
                #expect(!told.contains("/openapi.yaml"))
                #expect(told.contains("/v1/providers") && told.contains("service listener"))
            }
            for path in ["/", "/console"] {
                #expect(try await detail(path, of: service, toAdmin: true).contains("admin.console"))
            }
            #expect(try await detail("/nothing", of: service, toAdmin: false).contains("/openapi.yaml"))
        }
    }

    @Test func `the providers response has version, start time and audiences`() async throws {
        try await ServiceFixture.run { service async throws in
            let answer = try await service.send("GET", "/v1/providers", toAdmin: true).json
            #expect(answer["service"]?.object?["version"] == .string("1.2.3"))
            #expect(answer["service"]?.object?["started_at"] == .integer(1_700_000_000))
            #expect(
                answer["providers"]?.array?.first?.object?["audiences"]?.array == [
                    .string("client"), .string("other-client"),
                ])
        }
    }

    @Test(arguments: paths) func `a page that is on needs no key, and says what it may do`(path: String) async throws {
        let digest = try DigestContext().digest(Array("key".utf8).span, with: .sha256)
        try await ServiceFixture.run {
            $0.servesConsole = true
            $0.operatorKeys = CallerKeys(digests: [digest])
        } _: { service async throws in
            let response = try await service.send("GET", path, toAdmin: true)
            #expect(response.status == .ok)
            #expect(response.constantBody?.readableBytes ?? 0 > 0)
            #expect(response.headers.contains { "\($0.name)" == "Content-Security-Policy" })
            for data in ["/v1/events", "/v1/verdicts"] {
                #expect(try await service.send("GET", data, toAdmin: true).status == .unauthorized)
            }
        }
    }

    @Test(arguments: ["/console", "/v1/providers", "/v1/events", "/v1/verdicts", "/livez", "/metrics"])
    func `a host's name is refused where it may be anybody's`(path: String) async throws {
        try await ServiceFixture.run {
            $0.servesConsole = true
            $0.operatorHosts = ["ours.example"]
        } _: { service async throws in
            let named = try await service.send("GET", path, headers: ["Host": "evil.example"], toAdmin: true)
            #expect(try named.code == "request_invalid")
            #expect(
                try await service.send("GET", path, headers: ["Host": "127.0.0.1:9090"], toAdmin: true).status == .ok)
            #expect(
                try await service.send("GET", path, headers: ["Host": "ours.example:9090"], toAdmin: true).status == .ok
            )
        }
    }

    @Test func `another site's page refreshes nothing`() async throws {
        try await ServiceFixture.run { service async throws in
            let response = try await service.send(
                "POST", "/v1/providers/p/refresh", headers: ["Host": "a", "Origin": "http://b"], toAdmin: true)
            #expect(try response.code == "request_invalid")
            #expect(await service.fetcher.calls == 0)
        }
    }

    @Test func `events come newest first, with every member`() async throws {
        try await ServiceFixture.run { service async throws in
            #expect(try await service.send("GET", "/v1/events", toAdmin: true).text == #"{"events":[]}"#)
            try await service.fetchKeys([.p256])
            let time = #""at":1700000000,"since":1700000000,"count":1"#
            let nothing = #""phase":null,"message":null}"#
            #expect(
                try await service.send("GET", "/v1/events", toAdmin: true).text == #"{"events":["#
                    + #"{"provider":"p","event":"state_changed",\#(time),"added":null,"removed":null,"state":"ready",\#(nothing),"#
                    + #"{"provider":"p","event":"fetched",\#(time),"added":null,"removed":null,"state":null,\#(nothing),"#
                    + #"{"provider":"p","event":"keys_changed",\#(time),"added":{"count":1,"kids":["\#(TestKey.p256.keyID)"]},"#
                    + #""removed":{"count":0,"kids":[]},"state":null,\#(nothing)]}"#)
        }
    }

    @Test func `verdicts are counted by provider and code`() async throws {
        try await ServiceFixture.run { service async throws in
            #expect(try await service.send("GET", "/v1/verdicts", toAdmin: true).text == #"{"verdicts":[]}"#)
            try await service.fetchKeys()
            _ = try await service.verify(ServiceFixture.token())
            _ = try await service.verify(ServiceFixture.token())
            _ = try await service.verify("x")
            #expect(
                try await service.send("GET", "/v1/verdicts", toAdmin: true).text == #"{"verdicts":["#
                    + #"{"provider":"p","code":"ok","count":2},{"provider":null,"code":"token_malformed","count":1}]}"#)
        }
    }
}
