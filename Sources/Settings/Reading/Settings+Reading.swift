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
        var settings = Settings()
        let top = Section(root, path: [], reading)
        // What is no mapping has nothing to be missed in it.
        if !reading.isFaulty([]) {
            for member in members { member.read(top, &settings, nil) }
            top.finish()
        }
        settings.fitLimits(to: memory, reading)
        settings.serviceLinks = reading.variables.serviceLinks
        for fault in check(reading.effective) { reading.report(fault) }
        return (settings, try reading.finish())
    }
}
