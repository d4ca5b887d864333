/// Reads `service` and `admin`.
enum ListenerReader {
    /// - Parameter usual: where it listens unless the settings say otherwise.
    static func read(_ section: Section, _ usual: Settings.Listen) throws(SettingsError) -> Settings.Listener {
        let listen = try section.scalar("listen", "host:port or unix:/path", Settings.Listen.init) ?? usual
        let socket = try socket(section.section("socket"))
        let tls = try tls(section.section("tls"))
        // What an empty value would leave open is not for us to guess.
        guard tls != nil || !section.mentions("tls") else {
            throw section.error("tls", "tls needs both certificate_file and key_file")
        }
        switch (listen, socket) {
        case (.unixSocket(let path, _), let socket?):
            return Settings.Listener(.unixSocket(path: path, socket), tls: tls)
        case (.network, _?):
            throw section.error("socket", "socket is for a listener at unix:/path, and this one is at host:port")
        case (_, nil): return Settings.Listener(listen, tls: tls)
        }
    }

    private static func socket(_ section: Section) throws(SettingsError) -> Settings.Socket? {
        let mode = try section.scalar(
            "mode", "an octal mode such as 0660, in which at least the owner may read and write", Settings.Socket.mode)
        let group = try section.text("group")
        try section.finish()
        guard mode != nil || group != nil else { return nil }
        return Settings.Socket(mode: mode ?? Settings.Socket().mode, group: group)
    }

    private static func tls(_ section: Section) throws(SettingsError) -> Settings.TLS? {
        let certificate = try section.text("certificate_file")
        let key = try section.text("key_file")
        let clientCA = try section.text("client_ca_file")
        guard clientCA != nil || !section.mentions("client_ca_file") else {
            throw section.error(
                nil, "client_ca_file must be a text; without the line, clients are asked for no certificate")
        }
        try section.finish()
        switch (certificate, key) {
        case (let certificate?, let key?):
            return Settings.TLS(certificateFile: certificate, keyFile: key, clientCAFile: clientCA)
        case (nil, nil) where clientCA == nil: return nil
        default: throw section.error(nil, "tls needs both certificate_file and key_file")
        }
    }
}
