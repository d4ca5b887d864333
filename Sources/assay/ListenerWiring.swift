import HTTPListener
import Settings

extension ListenAddress {
    init(_ listen: Settings.Listen) {
        self =
            switch listen {
            case .network(let host, let port): .network(host: host, port: port)
            case .unixSocket(let path, let socket): .unixSocket(path: path, SocketPermissions(socket))
            }
    }
}

extension SocketPermissions {
    fileprivate init(_ socket: Settings.Socket) { self.init(mode: socket.mode, group: socket.group) }
}

extension TLSFiles {
    init(_ tls: Settings.TLS) {
        self.init(certificate: tls.certificateFile, key: tls.keyFile, clientAuthorities: tls.clientCAFile)
    }
}

extension Settings.Listener {
    /// Looks at what the settings name and only the machine can tell: files and groups.
    ///
    /// - Throws: ``ConfigurationError`` where the listener would not start.
    func checkOnThisMachine(_ name: String) throws {
        do {
            if let tls { _ = try ListenerTLS(TLSFiles(tls)) }
            if case .unixSocket(_, let socket) = listen { try SocketPermissions(socket).check() }
        } catch {
            throw ConfigurationError(text: "\(name): \(error)")
        }
    }
}
