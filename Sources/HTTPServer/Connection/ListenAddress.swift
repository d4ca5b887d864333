private import Glibc
private import NIOCore

/// The address of a listener.
package enum ListenAddress: Sendable, Equatable {
    case network(host: String, port: Int)
    case unixSocket(path: String, SocketPermissions = SocketPermissions())

    /// As written in the settings.
    package var text: String {
        switch self {
        case .network(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path, _): "unix:\(path)"
        }
    }
}

/// Why an address can't be used, with a human-readable description.
package struct ListenError: Error, CustomStringConvertible {
    package let description: String

    init(_ address: ListenAddress, _ error: any Error) {
        let reason =
            switch (error as? IOError)?.errnoCode {
            case EADDRINUSE: "the address is in use; stop the process that listens there, or choose another address"
            case EACCES, EPERM: "permission denied"
            case EADDRNOTAVAIL: "this machine has no such address"
            default: "\(error)"
            }
        description = "can't listen on \(address.text): \(reason)"
    }
}
