import HTTPServer
import NIOHTTP1
import NIOPosix
import NIOSSL
import OutboundHTTP

extension ListenAddress {
    /// Sends a request to this listener.
    ///
    /// - Parameters:
    ///   - tls: `nil` for plain HTTP.
    ///   - fields: in addition to `Host`.
    func request(
        _ method: HTTPMethod, _ path: String, tls: NIOSSLContext?, fields: HTTPHeaders = [:], body: [UInt8] = [],
        limits: HTTPExchange.Limits
    ) async -> HTTPAnswer {
        let destination: HTTPExchange.Destination
        let name: String?
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: fields)
        switch self {
        case .network(let host, let port):
            (destination, name) = (.host(host, port: port), host)
            head.headers.add(name: "Host", value: text)
        case .unixSocket(let path, _):
            (destination, name) = (.unixSocket(path), nil)
            head.headers.add(name: "Host", value: "localhost")
        }
        let exchange = HTTPExchange(
            to: destination, tls: tls.map { HTTPExchange.TLS(context: $0, host: name) }, head: head, body: body,
            limits: limits)
        return await exchange.perform(on: MultiThreadedEventLoopGroup.singleton.next())
    }
}
