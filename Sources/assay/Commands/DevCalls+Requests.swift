import DevProvider
import HTTPServer
import Host
import KeySource
import NIOHTTP1
import OutboundHTTP
import Settings

extension DevCalls {
    /// Calls over HTTP.
    ///
    /// - Parameters:
    ///   - service: the address of the service listener, once it listens.
    ///   - admin: that of the admin listener.
    static func calls(
        deliversAnywhere: Bool, service: @escaping @Sendable () -> ListenAddress?,
        admin: @escaping @Sendable () -> ListenAddress?
    ) -> DevCalls {
        DevCalls(deliversAnywhere: deliversAnywhere) { path, body in
            guard let address = service() else { return nil }
            return await post(path, to: address, "application/json", body)
        } explain: { body in
            guard let address = admin() else { return nil }
            return await post("/v1/explain", to: address, "application/json", body)
        } deliver: { url, type, body in
            guard let url = try? FetchURL(url, allowingHTTP: true), !url.isSecure else { return nil }
            return await post(url.requestTarget, to: .network(host: url.host, port: url.port), type, body)
        }
    }

    private static func post(
        _ path: String, to address: ListenAddress, _ contentType: String, _ body: [UInt8]
    ) async -> Answer? {
        let answer = await address.request(
            .POST, path, tls: nil, fields: ["Content-Type": contentType], body: body,
            limits: HTTPExchange.Limits(
                connectTimeout: .seconds(5), totalTimeout: .seconds(30), maximumBody: 1024 * 1024))
        guard let status = answer.head?.status.code, case .success(let body) = answer.body else { return nil }
        return Answer(status: Int(status), body: body)
    }
}

extension ListenAddress {
    /// Waits until the service has the keys of its providers, so that a test can begin at once, even one that injects
    /// faults into key fetches. Gives up after a few seconds.
    func waitUntilReady() async {
        let limits = HTTPExchange.Limits(
            connectTimeout: .seconds(1), totalTimeout: .seconds(1), maximumBody: 64 * 1024)
        for _ in 0..<500 {
            guard await request(.GET, "/readyz", tls: nil, limits: limits).head?.status != .ok else { return }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }
}
