private import Glibc
private import NIOCore
private import NIOPosix
private import NIOSSL

/// An error reply of a server, by its first word.
enum StoreError: Equatable {
    /// Another node has the key.
    ///
    /// - Parameter slot: which the other node has permanently; `nil` while the key's slot is being migrated.
    case redirected(to: String, slot: UInt16?)
    /// The node has become a replica.
    case readOnly
    /// The command was not executed; the error's code says so.
    case refused(String)
    /// It is unknown whether the command was executed.
    case other(String)

    /// Errors that servers detect before they execute a command.
    private static let refusals: Set = [
        "OOM", "MISCONF", "NOREPLICAS", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "NOAUTH", "NOPERM",
    ]

    init(_ text: [UInt8]) {
        let words = String(decoding: text, as: UTF8.self).split(separator: " ", maxSplits: 3)
        let first = words.first.map(String.init) ?? ""
        self =
            switch (first, words.count) {
            case ("MOVED", 3):
                if let slot = UInt16(words[1]), slot < KeySlot.count {
                    .redirected(to: String(words[2]), slot: slot)
                } else {
                    .other(first)
                }
            case ("ASK", 3): .redirected(to: String(words[2]), slot: nil)
            case ("READONLY", _): .readOnly
            case _ where Self.refusals.contains(first): .refused(first)
            default: .other(first)
            }
    }

    /// For the log: only the first word, if it looks like an error code.
    var shown: String {
        switch self {
        case .redirected(_, let slot): slot == nil ? "ASK" : "MOVED"
        case .readOnly: "READONLY"
        case .refused(let word), .other(let word):
            (1...32).contains(word.count) && word.allSatisfy { $0.isASCII && $0.isUppercase } ? word : "an error"
        }
    }
}

/// Why a store can't be used now. Contains no text from the server that could be anything else than a known word.
package struct StoreFailure: Sendable, Equatable {
    package let health: StoreHealth
    /// For the log.
    package let reason: String

    static let closed = unreachable("the connection was closed")
    static let silent = unreachable("no reply within the timeout")
    static let notRESP = unreachable("the replies are not those of Valkey or Redis")
    /// - Parameter setting: that names the server.
    static func replica(_ setting: String) -> StoreFailure {
        StoreFailure(health: .readOnly, reason: "connected to a replica; set \(setting) to the primary")
    }

    static func refused(_ error: StoreError) -> StoreFailure { unreachable("the store refused: \(error.shown)") }

    static func evicting(policy: String) -> StoreFailure {
        StoreFailure(
            health: .evicting,
            reason:
                "maxmemory-policy is \(policy): records can be evicted, and sign-ins then finished twice; set it to noeviction"
        )
    }

    private static func unreachable(_ reason: String) -> StoreFailure {
        StoreFailure(health: .unreachable, reason: reason)
    }

    /// A network or TLS error.
    static func connection(_ error: any Error) -> StoreFailure { unreachable(reason(error)) }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            if let first = error.connectionErrors.first?.error {
                reason(first)
            } else {
                "the host name can't be resolved"
            }
        case ChannelError.connectTimeout:
            "connection timed out"
        case let error as IOError: reason(errno: error.errnoCode)
        case is NIOSSLExtraError: "TLS: the store's certificate is not for this host"
        case NIOSSLError.handshakeFailed(let error): reason(handshake: error)
        case NIOSSLError.uncleanShutdown: closed.reason
        // In TLS 1.3, the server checks the client's certificate after the client's handshake is complete.
        case let error as BoringSSLError: reason(handshake: error)
        case is NIOSSLError: "TLS failed"
        default: "the connection failed"
        }
    }

    private static func reason(errno: CInt) -> String {
        switch errno {
        case ECONNREFUSED: "the connection was refused"
        case ECONNRESET, EPIPE: "the connection was reset"
        case ENOENT: "the socket does not exist"
        case EACCES: "permission denied on the socket"
        case EHOSTUNREACH, ENETUNREACH: "no route to the host"
        case EMFILE, ENFILE: "too many files are open"
        default: "the connection failed (errno \(errno))"
        }
    }

    /// The library reports the reason only in the error's description.
    private static func reason(handshake error: BoringSSLError) -> String {
        let text = String(describing: error)
        let known = [
            ("CERTIFICATE_VERIFY_FAILED", "TLS: the store's certificate is not trusted, or not valid now"),
            ("WRONG_VERSION_NUMBER", "the store does not use TLS"),
            ("CERTIFICATE_REQUIRED", "TLS: the store requires a client certificate (certificate_file, key_file)"),
            ("ALERT_UNKNOWN_CA", "TLS: the store does not trust the client certificate"),
            ("ALERT_BAD_CERTIFICATE", "TLS: the store rejects the client certificate"),
            ("ALERT_CERTIFICATE_EXPIRED", "TLS: the store rejects the client certificate as expired"),
        ]
        return known.first { text.contains($0.0) }?.1 ?? "the TLS handshake failed"
    }
}
