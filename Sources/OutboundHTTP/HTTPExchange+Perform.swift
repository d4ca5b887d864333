private import Host
package import NIOCore

extension HTTPExchange {
    /// Performs the exchange. If the task is cancelled, it ends as if the server had closed the connection.
    package func perform(on loop: any EventLoop) async -> HTTPAnswer {
        let attempts = DialAttempts()
        let dialer = HTTPDialer(
            to: destination, tls: tls, timeout: limits.connectTimeout,
            maximumOctets: limits.maximumBody + limits.maximumOverhead,
            decompressionLimit: decompresses ? limits.maximumBody : nil)
        let begun = NIODeadline.now()
        let answer = dialer.dial(on: loop, attempts).flatMap { connection in
            connection.exchange(request(begun: begun))
        }
        return await withTaskCancellationHandler {
            do {
                return try await answer.get()
            } catch {
                return HTTPAnswer(error)
            }
        } onCancel: {
            attempts.cancel()
        }
    }

    private func request(begun: NIODeadline) -> ClientRequest {
        var request = ClientRequest(
            head: head, body: ByteBuffer(bytes: body), idleTimeout: limits.idleTimeout,
            deadline: limits.totalTimeout.map { begun + .milliseconds($0.milliseconds) } ?? .distantFuture,
            maximumBody: limits.maximumBody, maximumOverhead: limits.maximumOverhead, keepsConnection: false)
        request.minimumRate = limits.minimumRate
        request.readsBody = readsBody
        return request
    }
}
