import Dispatch
import Foundation

/// HTTP over TCP or a Unix domain socket. Follows no redirect and uses no proxy: only Assay may see a token.
///
/// Its calls block threads of Dispatch, not of Swift concurrency. `URLSession` has no Unix sockets, honors
/// proxies of the environment, and may send a request twice.
final class SocketTransport: Transport, @unchecked Sendable {
    private let address: SocketAddress
    private let host: String
    private let prefix: String
    private let lock = NSLock()
    /// Guarded by `lock`.
    private var idle: [SocketConnection] = []

    init(_ address: SocketAddress, host: String, prefix: String) {
        self.address = address
        self.host = host
        self.prefix = prefix
    }

    func send(
        path: String, body: [UInt8], headers: [(String, String)], timeout: Duration, once: Bool
    ) async throws -> Reply {
        let request = request(path: path, body: body, headers: headers, once: once)
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try self.exchange(request, timeout: timeout, once: once) })
            }
        }
    }

    private func exchange(_ request: [UInt8], timeout: Duration, once: Bool) throws -> Reply {
        let end = ContinuousClock.now + timeout
        var sent = false
        do {
            let connection: SocketConnection
            if !once, let kept = kept() {
                connection = kept
            } else {
                connection = try SocketConnection(to: address, until: end)
            }
            sent = true
            let (reply, isReusable) = try connection.exchange(request, until: end)
            if isReusable && !once { lock.withLock { idle.append(connection) } }
            return reply
        } catch let failure as ConnectionFailure {
            throw NoAnswer(
                sent: sent,
                detail: sent ? "no whole answer came from \(place)" : "can't connect to \(place): \(failure.reason)")
        }
    }

    /// For errors.
    private var place: String {
        switch address {
        case .tcp: "http://\(host)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// One that Assay has probably not closed: it does so after 75 seconds.
    private func kept() -> SocketConnection? {
        lock.withLock {
            idle.removeAll { $0.usedAt < .now - .seconds(60) }
            return idle.popLast()
        }
    }

    private func request(path: String, body: [UInt8], headers: [(String, String)], once: Bool) -> [UInt8] {
        var head = "\(body.isEmpty ? "GET" : "POST") \(prefix)\(path) HTTP/1.1\r\nHost: \(host)\r\n"
        if !body.isEmpty { head += "Content-Length: \(body.count)\r\n" }
        head += "Connection: \(once ? "close" : "keep-alive")\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        return Array((head + "\r\n").utf8) + body
    }
}
