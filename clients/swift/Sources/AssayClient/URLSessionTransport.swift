import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// HTTP over TLS. Follows no redirect. A request that may be sent once gets a session, and so a connection, of its own.
final class URLSessionTransport: Transport {
    private let base: String
    private let kept: URLSession

    init(base: String) {
        self.base = base
        kept = URLSession(configuration: Self.configuration, delegate: NoRedirect(), delegateQueue: nil)
    }

    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        return configuration
    }

    func send(
        path: String, body: [UInt8], headers: [(String, String)], timeout: Duration, once: Bool
    ) async throws -> Reply {
        guard let url = URL(string: base + path) else { throw NoAnswer(sent: false) }
        let milliseconds = timeout.components.seconds * 1_000 + timeout.components.attoseconds / 1_000_000_000_000_000
        var request = URLRequest(url: url, timeoutInterval: TimeInterval(milliseconds) / 1_000)
        request.httpMethod = "POST"
        request.httpBody = Data(body)
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let session = once ? URLSession(configuration: Self.configuration, delegate: NoRedirect(), delegateQueue: nil) : kept
        defer { if once { session.finishTasksAndInvalidate() } }
        do {
            let (data, response) = try await session.data(for: request)
            guard let response = response as? HTTPURLResponse else { throw NoAnswer(sent: true) }
            let after = response.value(forHTTPHeaderField: "Retry-After").flatMap { $0.count < 10 ? Int($0) : nil }
            return Reply(status: response.statusCode, body: Array(data), retryAfter: after)
        } catch let error as URLError {
            throw NoAnswer(sent: !Self.unsent.contains(error.code))
        }
    }

    /// There was no connection.
    private static let unsent: Set<URLError.Code> = [
        .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .secureConnectionFailed, .serverCertificateUntrusted,
        .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
    ]
}

private final class NoRedirect: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
