import Foundation
import IDToken
@testable import Settings
import Testing

@Suite struct DescriptionTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func file(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The paths of all described settings; provider IDs are left out.
    private static let described = leaves(Settings.members.flatMap(\.descriptions), [])

    private static func leaves(_ members: [SettingDescription], _ path: [String]) -> [[String]: SettingDescription] {
        members.reduce(into: [:]) { all, setting in
            let path = path + [setting.name]
            switch setting.form {
            case .section(let members), .list(.section(let members), _):
                all.merge(leaves(members, path)) { one, _ in one }
            case .either(.section(let members), _):
                all.merge(leaves(members, path)) { one, _ in one }
                all[path] = setting
            default: all[path] = setting
            }
        }
    }

    @Test func `the reader asks for each setting that is described, and for no other`() {
        let providers = ProviderPreset.all.map { preset in
            "  - { id: \(preset.name), preset: \(preset.name), claim_values: { a: b }, refused_claim_values: { a: b } }\n"
        }
        let asked = Settings.effective("providers:\n" + providers.joined()).all.map { setting in
            var path = setting.path
            if path.first == "providers" { path.remove(at: 1) }
            // The keys in a mapping of claims are chosen by the operator.
            if path.count > 2, ["claim_values", "refused_claim_values"].contains(path[1]) { path.removeLast() }
            return path
        }
        // The elements of these lists are recorded as a whole.
        let lists = [["providers", "clients"], ["forward_auth", "policies"], ["resources"], ["client_keys"]]
        let described = Self.described.keys.map { path in lists.first(where: path.starts) ?? path }
        #expect(Set(asked).subtracting(described) == [])
        #expect(Set(described).subtracting(asked) == [])
    }

    @Test func `each setting has a sentence of help, and says what it may be`() {
        for (path, setting) in Self.described {
            #expect(setting.help.first?.isUppercase == true || setting.help.hasPrefix("`"), "\(path)")
            #expect(setting.help.hasSuffix("."), "\(path)")
            #expect(!setting.expected.isEmpty, "\(path)")
        }
    }

    @Test func `the committed schema is the one that the command prints`() throws {
        let isCurrent = try Self.file("docs/assay.schema.json") == SettingsSchema.json()
        #expect(isCurrent, "assay config schema > docs/assay.schema.json")
    }

    @Test(arguments: [
        ("docs/configuration.md", SettingsReference.markdown()), ("docs/presets.md", SettingsReference.presets()),
    ])
    func `the committed references are those that the commands print`(path: String, reference: String) throws {
        #expect(try Self.file(path).hasSuffix("## Reference\n\n" + reference), "run scripts/docs --write")
    }

    @Test func `elements of lists have no variables, except providers`() {
        let reference = SettingsReference.markdown()
        #expect(reference.contains("`ASSAY_PROVIDERS_<ID>_ISSUER`"))
        for setting in Settings.members.flatMap(\.descriptions) where setting.name != "providers" {
            guard case .list(.section, _) = setting.form else { continue }
            #expect(!reference.contains("ASSAY_\(setting.name.uppercased())_"))
        }
    }

    @Test func `defaults are those of the reader`() {
        let usual = DefaultSettings()
        #expect(usual.value(["limits", "max_body"]) == .scalar("64KiB"))
        #expect(usual.value(["tracing", "service_name"]) == .scalar("assay"))
        #expect(usual.value(["providers", "nonce", "match"]) == .list(["plain"]))
        #expect(usual.value(["cache_directory"]) == nil)
        #expect(usual.value(["providers", "issuer"]) == nil)
    }

    @Test func `files are checked despite other faults, and their faults name the line`() throws {
        let yaml = """
            clock_skew: 5
            tracing: { otlp_endpoint: "http://127.0.0.1:4318", ca_file: /absent }
            log: { level: loud }
            \(provider)
            """
        let faults = try #require(
            #expect(throws: SettingsError.self) {
                try Settings.read(yaml: yaml) { effective in
                    effective.all.filter { $0.file != nil && $0.value != nil }.map { setting in
                        SettingsFault(
                            line: effective.line(of: setting.path), message: setting.path.joined(separator: "."))
                    }
                }
            }
        ).faults
        #expect(faults.map(\.line) == [1, 2, 3])
        #expect(faults[1].message == "tracing.ca_file")
    }
}
