internal import HTTPServer

/// Reads `service` and `admin`.
enum ListenerReader {
    /// - Parameter usual: where it listens unless the settings say otherwise.
    static func read(_ section: Section, _ usual: ListenAddress) -> Settings.Listener {
        let expected = "host:port or unix:/path, with a port from 0 to 65535"
        let listen =
            section.scalar("listen", expected, ListenAddress.init)
            ?? section.otherwise("listen", usual, shown: usual.text)
        let socketSection = section.section("socket")
        let socket = socket(socketSection)
        let tls = tls(section.section("tls"))
        // What an empty value would leave open is not for us to guess.
        if tls == nil, section.mentions("tls") {
            section.refuse("tls", "tls needs both certificate_file and key_file")
        }
        switch (listen, socket) {
        case (.unixSocket(let path, _), let socket):
            let socket = socket ?? SocketPermissions()
            if !section.isFaulty("socket") { socketSection.otherwise("mode", (), shown: socket.modeText) }
            return Settings.Listener(.unixSocket(path: path, socket), tls: tls)
        case (.network, _?):
            if !section.isFaulty("listen") {
                section.refuse("socket", "socket is for a listener at unix:/path, and this one is at host:port")
            }
            return Settings.Listener(listen, tls: tls)
        case (.network, nil): return Settings.Listener(listen, tls: tls)
        }
    }

    private static func socket(_ section: Section) -> SocketPermissions? {
        let mode = section.scalar(
            "mode", "an octal mode such as 0660, in which at least the owner may read and write", SocketPermissions.mode
        )
        let group = section.text("group")
        section.finish()
        guard mode != nil || group != nil else { return nil }
        return SocketPermissions(mode: mode ?? SocketPermissions().mode, group: group)
    }

    /// A URI with a scheme, or a DNS name.
    private static func clientName(_ text: String) -> String? {
        guard (1...2048).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            return nil
        }
        if let colon = text.firstIndex(of: ":") {
            let scheme = text[..<colon]
            return scheme.first?.isLetter == true && text.index(after: colon) < text.endIndex
                && scheme.allSatisfy { $0.isLetter || $0.isNumber || "+-.".contains($0) } ? text : nil
        }
        return text.allSatisfy { $0.isLetter || $0.isNumber || "-._".contains($0) } ? text : nil
    }

    private static func tls(_ section: Section) -> TLSFiles? {
        let certificate = section.text("certificate_file")
        let key = section.text("key_file")
        let clientCA = section.text("client_ca_file")
        if clientCA == nil, section.mentions("client_ca_file") {
            section.refuse(
                "client_ca_file",
                "client_ca_file must be a text; without the line, clients are asked for no certificate")
        }
        let isAsked = certificate != nil || key != nil || clientCA != nil
        if isAsked {
            for (name, value) in [("certificate_file", certificate), ("key_file", key)] where value == nil {
                section.refuseMissing(name, "tls needs both certificate_file and key_file")
            }
        }
        let clientNames = section.list(
            "client_names", "a URI such as spiffe://example.org/backend, or a DNS name such as backend.example.org",
            clientName)
        if clientNames?.isEmpty == true {
            section.refuse("client_names", "client_names must have at least one name; without the line, any will do")
        } else if clientNames != nil, clientCA == nil {
            section.refuse(
                "client_names", "client_names needs client_ca_file: without it clients show no certificate")
        }
        section.finish()
        guard let certificate, let key else { return nil }
        return TLSFiles(
            certificate: certificate, key: key, clientAuthorities: clientCA, clientNames: clientNames)
    }
}
