import HTTPServer
import Settings

extension Settings.Listener {
    /// Looks at what the settings name and only the machine can tell: files and groups.
    ///
    /// - Parameter name: the listener's section.
    /// - Returns: why the listener would not start; none where it would.
    func faultsOnThisMachine(_ name: String, _ effective: EffectiveSettings) -> [SettingsFault] {
        func fault(_ setting: [String], _ error: any Error) -> SettingsFault {
            let path = [name] + setting
            return SettingsFault(
                line: effective.line(of: path), message: "\(path.joined(separator: ".")): \(error)")
        }
        var faults = tls.map { $0.faults().map { fault(["tls", $0.file.setting], $0) } } ?? []
        if case .unixSocket(_, let socket) = listen {
            do { try socket.check() } catch { faults.append(fault(["socket", "group"], error)) }
        }
        return faults
    }
}

extension TLSFileKind {
    /// The member of `tls` that names the file.
    fileprivate var setting: String {
        switch self {
        case .certificate: "certificate_file"
        case .key: "key_file"
        case .clientAuthorities: "client_ca_file"
        }
    }
}
