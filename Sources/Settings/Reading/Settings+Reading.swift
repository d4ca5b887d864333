private import YAML

extension Settings {
    /// Reads the text of a settings file, with the environment's overrides.
    ///
    /// - Parameter memory: bytes that the process may take, from which limits follow that are not set; `nil`: no limit.
    /// - Throws: ``SettingsError`` with every fault.
    package init(
        yaml: String, environment: [String: String] = [:], memory: Int? = nil
    ) throws(SettingsError) {
        (self, _) = try Self.read(yaml: yaml, environment: environment, memory: memory)
    }

    /// Reads the text of a settings file, with the environment's overrides, and notes where each setting comes from.
    ///
    /// - Parameter check: finds what is wrong with the files that the settings name; asked whatever else is wrong.
    /// - Throws: ``SettingsError`` with every fault.
    package static func read(
        yaml: String, environment: [String: String] = [:], memory: Int? = nil,
        check: (EffectiveSettings) -> [SettingsFault] = { _ in [] }
    ) throws(SettingsError) -> (settings: Settings, effective: EffectiveSettings) {
        let root: YAMLNode?
        do throws(YAMLError) {
            root = try YAMLReader.read(yaml)
        } catch {
            throw SettingsError([SettingsFault(line: error.line, message: error.description)])
        }
        let reading = SettingsReading(environment: environment)
        let settings = Settings(root, memory: memory, reading)
        for fault in check(reading.effective) { reading.report(fault) }
        return (settings, try reading.finish())
    }

    /// Where each setting of a file comes from, whatever is wrong with others.
    static func effective(_ yaml: String) -> EffectiveSettings {
        let reading = SettingsReading(environment: [:])
        if let root = try? YAMLReader.read(yaml) { _ = Settings(root, memory: nil, reading) }
        return reading.effective
    }

    private init(_ root: YAMLNode?, memory: Int?, _ reading: SettingsReading) {
        let top = Section(root, path: [], reading)
        // What is no mapping has nothing to be missed in it.
        if !reading.isFaulty([]) {
            for member in Self.members { member.read(top, &self, nil) }
            top.finish()
        }
        fitLimits(to: memory, reading)
        serviceLinks = reading.variables.serviceLinks
    }
}
