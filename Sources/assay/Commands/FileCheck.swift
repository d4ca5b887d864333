import Host
import IDToken
import KeySource
import NIOSSL
import Settings

/// Looks at the files that settings name.
enum FileCheck {
    private static let maximumSize = 512 * 1024

    /// Why a listener would not start.
    static func listenerFaults(_ settings: Settings, _ effective: EffectiveSettings) -> [SettingsFault] {
        settings.service.faultsOnThisMachine("service", effective)
            + settings.admin.faultsOnThisMachine("admin", effective)
    }

    /// What is wrong with the files of providers, in their order. The service would start without them, and find no keys.
    static func faults(_ settings: Settings, _ effective: EffectiveSettings) -> [SettingsFault] {
        settings.providers.flatMap { provider -> [SettingsFault] in
            let path = ["providers", provider.policy.id]
            var faults: [SettingsFault] = []
            func check(_ file: String?, _ setting: [String], _ isGood: ([UInt8]) -> String?) {
                guard let file, let fault = fault(file, isGood) else { return }
                faults.append(
                    SettingsFault(
                        line: effective.line(of: path + setting),
                        message: "provider \(provider.policy.id): \(setting.joined(separator: ".")): \(file): \(fault)")
                )
            }
            check(provider.keys.file, ["jwks_file"]) { _ in nil }
            check(provider.network.caFile, ["network", "ca_file"]) { bytes in
                let certificates = (try? NIOSSLCertificate.fromPEMBytes(bytes)) ?? []
                return certificates.isEmpty ? "there is no certificate in PEM in it" : nil
            }
            return faults
        }
    }

    private static func fault(_ path: String, _ isGood: ([UInt8]) -> String?) -> String? {
        do throws(SmallFile.Failure) {
            return isGood(try SmallFile(path: path, maximumSize: maximumSize, followingLinks: true).bytes)
        } catch {
            return error.text(maximumSize: maximumSize)
        }
    }
}
