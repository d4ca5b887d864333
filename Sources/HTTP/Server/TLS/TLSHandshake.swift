private import Bytes
internal import NIOCore
internal import NIOSSL
private import NIOTLS
private import OpenSSL

/// Watches the TLS handshake of one connection: limits its time, reports its failure, and admits only clients with one
/// of the listed names. It removes itself after the handshake.
final class TLSHandshake: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let onFailure: (HandshakeFailure) -> Void
    private let timeout: TimeAmount
    private let tls: NIOSSLServerHandler
    /// `nil` for any client with a certificate of the CAs.
    private let clientNames: [String]?
    private var timer: Scheduled<Void>?
    private var isOver = false

    /// - Parameters:
    ///   - tls: the handler that performs the handshake.
    ///   - clientNames: the names, one of which a client's certificate must have.
    ///   - seconds: the timeout of the handshake.
    ///   - onFailure: called once if it fails.
    init(
        of tls: NIOSSLServerHandler, clientNames: [String]?, within seconds: Int64,
        onFailure: @escaping (HandshakeFailure) -> Void
    ) {
        self.tls = tls
        self.clientNames = clientNames
        self.onFailure = onFailure
        timeout = .seconds(seconds)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: timeout) {
            let (handshake, context) = bound.value
            handshake.fail(.timeout)
            context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted = event else { return context.fireUserInboundEventTriggered(event) }
        let names = tls.peerCertificate.map(ClientNames.init)
        // Checked here and not during certificate verification, because a resumed session does not verify its
        // certificate again.
        let listedName = clientNames.flatMap { names?.first(of: $0) }
        guard clientNames == nil || listedName != nil else {
            fail(.clientNameNotListed)
            // This handler stays, and discards what the client has already sent.
            return context.close(promise: nil)
        }
        isOver = true
        context.fireUserInboundEventTriggered(event)
        if let name = listedName ?? names?.shown { context.fireUserInboundEventTriggered(ClientIdentified(name: name)) }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !hasFailed { context.fireChannelRead(data) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Closing without a handshake, like the port check of a load balancer, is not a failure.
        if case NIOSSLError.handshakeFailed(let reason) = error, reason != .sslError([.eofDuringHandshake]) {
            fail(HandshakeFailure(reason))
        }
        context.fireErrorCaught(error)
    }

    private var hasFailed = false

    private func fail(_ failure: HandshakeFailure) {
        guard !isOver else { return }
        isOver = true
        hasFailed = true
        onFailure(failure)
    }
}

@available(*, unavailable) extension TLSHandshake: Sendable {}

/// Why a TLS handshake failed, for the log. A closed set, so that clients can't choose the text.
struct HandshakeFailure: Equatable {
    let reason: String

    static let timeout = HandshakeFailure(reason: "the handshake took longer than limits.request_timeout")
    static let clientNameNotListed = HandshakeFailure(
        reason: "the client's certificate has none of the names in tls.client_names")

    private init(reason: String) { self.reason = reason }

    /// Classifies an error of BoringSSL.
    init(_ error: BoringSSLError) {
        guard case .sslError(let stack) = error, let first = stack.first else {
            reason = "the connection broke"
            return
        }
        let name = Self.name(in: first.description)
        reason = Self.explanations[name] ?? "TLS error \(name)"
    }

    /// BoringSSL's name of an error, such as `HTTP_REQUEST`, in a text such as
    /// `Error: 268435612 error:1000009c:SSL routines:OPENSSL_internal:HTTP_REQUEST at /path:line`.
    private static func name(in description: String) -> String {
        let end = description.firstRange(of: " at ")?.lowerBound ?? description.endIndex
        let name = description[..<end].split(separator: ":").last ?? ""
        let isName = name.utf8.allSatisfy { (0x41...0x5a).contains($0) || $0.isDigit || $0 == UInt8(ascii: "_") }
        return isName && !name.isEmpty ? String(name) : "unknown"
    }

    private static let explanations = [
        "HTTP_REQUEST": "the client uses plain HTTP",
        "HTTPS_PROXY_REQUEST": "the client uses this address as an HTTP proxy",
        "WRONG_VERSION_NUMBER": "the client does not use TLS",
        "UNSUPPORTED_PROTOCOL": "the client does not support TLS 1.2 or later",
        "NO_SHARED_CIPHER": "no cipher suite in common with the client",
        "NO_COMMON_SIGNATURE_ALGORITHMS": "no signature algorithm in common with the client",
        "PEER_DID_NOT_RETURN_A_CERTIFICATE": "the client sent no certificate",
        "CERTIFICATE_VERIFY_FAILED":
            "the client certificate is invalid: its CA is not in client_ca_file, it is expired or not yet valid, or it is not for client authentication",
        "TLSV1_ALERT_UNKNOWN_CA": "the client does not trust this listener's certificate",
        "SSLV3_ALERT_BAD_CERTIFICATE": "the client rejects this listener's certificate",
        "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "the client rejects this listener's certificate",
        "SSLV3_ALERT_CERTIFICATE_EXPIRED": "the client rejects this listener's certificate as expired",
    ]
}

/// The names in a client's certificate, which a trusted CA has signed.
struct ClientNames {
    /// URIs of the subject alternative name (RFC 5280, section 4.2.1.6), including SPIFFE IDs.
    private var uris: [String] = []
    private var hosts: [String] = []
    private let certificate: NIOSSLCertificate

    /// The most bytes of a name that are shown.
    private static let shownLength = 128

    init(_ certificate: NIOSSLCertificate) {
        self.certificate = certificate
        for name in certificate._subjectAlternativeNames() {
            switch name.nameType {
            case .uri: uris.append(String(decoding: name.contents, as: UTF8.self))
            case .dnsName: hosts.append(String(decoding: name.contents, as: UTF8.self))
            default: break
            }
        }
    }

    /// The first of the listed names that the certificate has: URIs are compared byte for byte, DNS names without
    /// regard to case.
    ///
    /// A wildcard in the certificate matches nothing.
    func first(of listed: [String]) -> String? {
        listed.first { name in
            if name.contains(":") { return uris.contains { $0.utf8.elementsEqual(name.utf8) } }
            return hosts.contains { $0.lowercased().utf8.elementsEqual(name.lowercased().utf8) }
        }
    }

    /// The client's name for display: a URI, else a DNS name, else the subject's common name, as printable ASCII. Other
    /// characters are replaced, and long names cut off.
    var shown: String? {
        guard let name = uris.first ?? hosts.first ?? commonName else { return nil }
        let octets = name.utf8.prefix(Self.shownLength).map { $0.isPrintableASCII ? $0 : UInt8(ascii: "?") }
        return octets.isEmpty ? nil : String(decoding: octets, as: UTF8.self)
    }

    private var commonName: String? {
        guard let octets = try? certificate.toDERBytes() else { return nil }
        return Certificate(octets)?.commonName
    }
}

/// The event that passes the name in the client's certificate to a connection's handlers after the handshake.
struct ClientIdentified: Sendable {
    let name: String
}
