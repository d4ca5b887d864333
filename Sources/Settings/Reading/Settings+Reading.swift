private import YAML

extension Settings {
    /// Reads the text of a settings file, with overrides from the environment.
    ///
    /// - Parameter memory: the process's memory limit in bytes, from which unset limits are derived; `nil`: no limit.
    /// - Throws: ``SettingsError`` with all errors.
    package init(
        yaml: String, environment: [String: String] = [:], memory: Int? = nil
    ) throws(SettingsError) {
        (self, _) = try Self.read(yaml: yaml, environment: environment, memory: memory)
    }

    /// Reads the text of a settings file, with overrides from the environment, and records the origin of each setting.
    ///
    /// - Parameter check: checks the files that the settings name. It runs even if there are other errors.
    /// - Throws: ``SettingsError`` with all errors.
    package static func read(
        yaml: String, environment: [String: String] = [:], memory: Int? = nil,
        check: (EffectiveSettings) -> [SettingsFault] = { _ in [] }
    ) throws(SettingsError) -> (settings: Settings, effective: EffectiveSettings) {
        let root: YAMLNode?
        do throws(YAMLError) {
            root = try YAMLReader.read(yaml)
        } catch {
            // A brace of a reference is often what is not YAML.
            let line = yaml.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(error.line - 1).first
            let reference = line.flatMap(VariableReference.refusal).map { "; \($0)" } ?? ""
            throw SettingsError([SettingsFault(line: error.line, message: error.description + reference)])
        }
        let reading = SettingsReading(environment: environment)
        let settings = Settings(root, memory: memory, reading)
        for fault in check(reading.effective) { reading.report(fault) }
        return (settings, try reading.finish())
    }

    /// The origin of each setting of a file, even if some have errors.
    static func effective(_ yaml: String) -> EffectiveSettings {
        let reading = SettingsReading(environment: [:])
        if let root = try? YAMLReader.read(yaml) { _ = Settings(root, memory: nil, reading) }
        return reading.effective
    }

    private init(_ root: YAMLNode?, memory: Int?, _ reading: SettingsReading) {
        if let root { reading.refuseVariableReferences(in: root) }
        let top = Section(root, path: [], reading)
        // If the document is not a mapping, don't also report missing members.
        if !reading.isFaulty([]) {
            for member in Self.members { member.read(top, &self, nil) }
            top.finish()
        }
        fitLimits(to: memory, reading)
        serviceLinks = reading.variables.serviceLinks
        files = reading.files
    }
}
