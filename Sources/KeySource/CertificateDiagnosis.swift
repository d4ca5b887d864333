internal import Clocks
internal import NIOCore
private import NIOPosix
private import NIOSSL
private import NIOTLS
private import OpenSSL

/// Finds out what is wrong with a server's certificate that was not believed: the TLS library only says that it was not.
///
/// Connects once more and asks for the certificate, without believing it. Nothing is sent or read over that connection.
struct CertificateDiagnosis {
    private let host: String
    private let address: String
    private let port: Int
    private let timeout: Interval
    private let loop: any EventLoop

    init(host: String, address: String, port: Int, timeout: Interval, loop: any EventLoop) {
        self.host = host
        self.address = address
        self.port = port
        self.timeout = timeout
        self.loop = loop
    }

    /// What an operator should know; `nil` where nothing was found.
    func reason(unixSeconds now: Int64) async -> String? {
        guard let certificate = try? await certificate() else { return nil }
        if Int64(certificate.notValidBefore) > now { return "the server's certificate is not yet valid" }
        if Int64(certificate.notValidAfter) < now { return "the server's certificate has expired" }
        let remedy = "name its authority in network.ca_file if it should be believed"
        if let octets = try? certificate.toDERBytes(), Certificate(octets)?.isSelfSigned == true {
            return "the server's certificate is self-signed and not trusted: \(remedy)"
        }
        return
            "the server's certificate is by an authority that is not trusted, or comes without an intermediate: \(remedy)"
    }

    private func certificate() async throws -> NIOSSLCertificate? {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.minimumTLSVersion = .tlsv12
        let context = try NIOSSLContext(configuration: configuration)
        let isAddress = AddressVetting.octets(host) != nil
        let handshake = loop.makePromise(of: Void.self)
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: loop)
                .connectTimeout(.milliseconds(timeout.milliseconds))
                .channelInitializer { [host] channel in
                    channel.eventLoop.makeCompletedFuture {
                        let handler = try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
                        try channel.pipeline.syncOperations.addHandlers(handler, HandshakeHandler(handshake))
                    }
                }
                .connect(host: address, port: port).get()
        } catch {
            handshake.fail(error)
            throw error
        }
        let timer = loop.scheduleTask(in: .milliseconds(timeout.milliseconds)) { channel.close(promise: nil) }
        defer { timer.cancel() }
        let certificate: Result<NIOSSLCertificate?, any Error>
        do {
            try await handshake.futureResult.get()
            certificate = .success(try await channel.nioSSL_peerCertificate().get())
        } catch {
            certificate = .failure(error)
        }
        channel.close(promise: nil)
        return try certificate.get()
    }
}

/// Tells when a TLS handshake has ended.
private final class HandshakeHandler: ChannelInboundHandler {
    typealias InboundIn = Never

    private let handshake: EventLoopPromise<Void>

    init(_ handshake: EventLoopPromise<Void>) { self.handshake = handshake }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { handshake.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        handshake.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        handshake.fail(ChannelError.eof)
        context.fireChannelInactive()
    }
}

@available(*, unavailable) extension HandshakeHandler: Sendable {}
