import HTTP
import Keys
import Settings

extension Settings {
    /// Start-up warnings about settings that are allowed but risky, and about files that other users of this machine
    /// can read or write.
    ///
    /// Exposed files are not errors: some platforms mount secrets for everyone in a container.
    var allWarnings: [String] {
        warnings
            + files.flatMap { file in
                FileExposure.of(file.path, isSecret: file.purpose.isSecret).map { exposure in
                    "\(file.setting ?? "the settings"): \(file.path): \(exposure.text)"
                }
            }
    }
}

extension FileExposure {
    /// What is wrong, and what to do.
    fileprivate var text: String {
        switch self {
        case .readable(let mode):
            "other users, or a group that this process is not in, can read it (mode \(String(mode, radix: 8))); give it to Assay's user (chown, chmod 600) or to a group of Assay's own (chgrp, chmod 440), or set defaultMode: 0440 with fsGroup in Kubernetes"
        case .writable(let mode):
            "its group or other users of this machine can change it (mode \(String(mode, radix: 8))); let only its owner write: chmod go-w"
        case .replaceable(let directory, let mode):
            "other users of this machine can replace it, because they can write to \(directory) (mode \(String(mode, radix: 8))); let only the directory's owner write: chmod go-w"
        }
    }
}

extension ProxyEnvironment {
    /// Warnings about what is allowed but risky.
    var warnings: [String] {
        guard credentials != nil, !ListenAddress.network(host: host, port: port).isLocal else { return [] }
        return ["HTTPS_PROXY: the proxy's password is sent without TLS: it can be read on the network"]
    }
}
