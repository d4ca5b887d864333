internal import NIOSSL

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
        let isName =
            !name.isEmpty
            && name.utf8.allSatisfy { octet in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(octet)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet)
                    || octet == UInt8(ascii: "_")
            }
        return isName ? String(name) : "unknown"
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
