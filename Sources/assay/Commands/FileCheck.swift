import HTTP
import NIOSSL
import Service
import Settings

/// Checks the parts of settings that depend on the machine: files, and groups of sockets.
enum FileCheck {
    /// Faults that prevent the service from starting.
    static func faultsAtStart(_ effective: EffectiveSettings) -> [SettingsFault] {
        ["service", "admin"].flatMap { listenerFaults($0, effective) } + fileFaults("tracing", effective)
            + fileFaults("sign_ins", effective) + handleKeyFaults(effective)
    }

    private static func handleKeyFaults(_ effective: EffectiveSettings) -> [SettingsFault] {
        let path = ["sign_ins", "key_files"]
        guard case .list(let files)? = effective[path]?.value else { return [] }
        do throws(ConfigurationError) {
            _ = try SignInFiles(keyFiles: files).read()
            return []
        } catch {
            return [SettingsFault(line: effective.line(of: path), message: error.text)]
        }
    }

    /// The same, and faults of providers' files: with these, the service would start, but find no keys.
    static func faults(_ effective: EffectiveSettings) -> [SettingsFault] {
        faultsAtStart(effective) + fileFaults("providers", effective)
    }

    private static func listenerFaults(_ name: String, _ effective: EffectiveSettings) -> [SettingsFault] {
        func fault(_ path: [String], _ error: any Error) -> SettingsFault {
            SettingsFault(line: effective.line(of: path), message: "\(path.joined(separator: ".")): \(error)")
        }
        var faults: [SettingsFault]
        if let certificate = effective.text([name, "tls", "certificate_file"]),
            let key = effective.text([name, "tls", "key_file"])
        {
            let authorities = effective.text([name, "tls", "client_ca_file"])
            faults = TLSFiles(certificate: certificate, key: key, clientAuthorities: authorities).faults().map {
                fault([name, "tls", $0.file.rawValue], $0)
            }
        } else {
            faults = fileFaults(name, effective)
        }
        if effective.text([name, "listen"])?.hasPrefix("unix:") == true {
            let path = [name, "socket", "group"]
            do { try SocketPermissions(group: effective.text(path)).check() } catch {
                faults.append(fault(path, error))
            }
        }
        return faults
    }

    private static func fileFaults(_ section: String, _ effective: EffectiveSettings) -> [SettingsFault] {
        effective.all.compactMap { setting in
            // Lists of issuers are read with the settings.
            guard setting.path.first == section, let purpose = setting.file, purpose != .issuers,
                let file = effective.text(setting.path),
                let fault = fault(file, purpose, maximumSize: section == "tracing" ? 64 * 1024 : 512 * 1024)
            else { return nil }
            let name = NamedFile.name(ofSetting: setting.path)
            return SettingsFault(line: effective.line(of: setting.path), message: "\(name): \(file): \(fault)")
        }
    }

    /// The fault of a file; `nil` if there is none.
    private static func fault(_ path: String, _ purpose: NamedFile.Purpose, maximumSize: Int) -> String? {
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile(path: path, maximumSize: maximumSize, followingLinks: true).bytes
        } catch {
            return error.text(maximumSize: maximumSize)
        }
        switch purpose {
        case .certificate, .authorities:
            let certificates = (try? NIOSSLCertificate.fromPEMBytes(bytes)) ?? []
            return certificates.isEmpty ? "it contains no PEM certificate" : nil
        case .headers:
            do throws(CollectorHeaders.Malformed) {
                _ = try CollectorHeaders(String(decoding: bytes, as: UTF8.self))
                return nil
            } catch {
                return "\(error)"
            }
        case .secret: return bytes.allSatisfy { $0 == 0x0a || $0 == 0x0d } ? "the file is empty" : nil
        case .settings, .privateKey, .keySet, .issuers: return nil
        }
    }
}
