import Foundation
import FoundationNetworking
import Hummingbird
import Logging
import ServiceLifecycle
import Synchronization

/// A provider that fails at first, and whenever it is told to.
final class Provider: Sendable {
    private let all: [[String: String]]
    /// The keys that it publishes; `nil` while it fails.
    private let published = Mutex<Data?>(nil)

    /// - Parameter keys: the JWK Set with all keys that it can publish.
    init(_ keys: Data) throws {
        all = try JSONDecoder().decode([String: [[String: String]]].self, from: keys)["keys"] ?? []
    }

    func fail() { published.withLock { $0 = nil } }

    func publish(_ keyIDs: [String]) throws {
        let keys = all.filter { keyIDs.contains($0["kid"] ?? "") }
        let text = try JSONEncoder().encode(["keys": keys])
        published.withLock { $0 = text }
    }

    var router: Router<BasicRequestContext> {
        let router = Router()
        router.get("keys") { _, _ in
            guard let keys = self.published.withLock({ $0 }) else { throw HTTPError(.serviceUnavailable) }
            return String(decoding: keys, as: UTF8.self)
        }
        return router
    }
}

/// Serves at a free port while `body` runs.
func serve<Context: RequestContext>(
    _ router: Router<Context>, with service: (any Service)? = nil, _ body: @Sendable (_ port: Int) async throws -> Void
) async throws where Context.Source == ApplicationRequestContextSource {
    let (ports, announced) = AsyncStream<Int>.makeStream()
    var logger = Logger(label: "server")
    logger.logLevel = .error
    var app = Application(
        router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { announced.yield($0.localAddress?.port ?? 0) }, logger: logger)
    if let service { app.addServices(service) }
    let group = ServiceGroup(services: [app], logger: logger)
    async let running: Void = group.run()
    for await port in ports {
        try await body(port)
        break
    }
    await group.triggerGracefulShutdown()
    try await running
}

/// The status with which a server answers.
func status(of path: String, at port: Int, bearer token: String) async throws -> Int {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { return 0 }
    var request = URLRequest(url: url)
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    let session = URLSession(configuration: .ephemeral)
    defer { session.finishTasksAndInvalidate() }
    let (_, response) = try await session.data(for: request)
    return (response as? HTTPURLResponse)?.statusCode ?? 0
}

func pause() async { try? await Task.sleep(for: .milliseconds(20)) }
