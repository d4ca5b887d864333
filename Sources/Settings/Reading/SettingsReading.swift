/// One reading of the settings: the environment, the faults found so far, and where each setting in effect comes from.
///
/// Every ``Section`` of a file shares it. A reader reports a fault and goes on, so that all faults are reported at once.
final class SettingsReading {
    let variables: EnvironmentVariables
    private(set) var effective = EffectiveSettings()
    private var faults: [(rank: Rank, fault: SettingsFault)] = []
    private var faultyPaths: [[String]] = []

    /// The order in which faults are reported.
    private enum Rank: Int { case file, environment, missing }

    init(environment: [String: String]) {
        variables = EnvironmentVariables(environment)
    }

    /// Reports a fault of what is written.
    ///
    /// - Parameters:
    ///   - path: the setting at fault; `nil`: no single one.
    ///   - line: `nil` where an environment variable is at fault.
    func report(_ path: [String]?, line: Int?, _ message: String) {
        add(line == nil ? .environment : .file, path, line, message)
    }

    /// Reports that a setting is missing.
    ///
    /// - Parameter line: where its section begins.
    func reportMissing(_ path: [String], line: Int?, _ message: String) { add(.missing, path, line, message) }

    /// Reports what is wrong with a file that a setting names.
    func report(_ fault: SettingsFault) { report(nil, line: fault.line, fault.message) }

    private func add(_ rank: Rank, _ path: [String]?, _ line: Int?, _ message: String) {
        let fault = SettingsFault(line: line, message: message)
        if let path { faultyPaths.append(path) }
        guard !faults.contains(where: { $0.fault == fault }) else { return }
        faults.append((rank, fault))
    }

    /// Whether a fault was found in a setting or within it: nothing else should then be concluded from its value.
    func isFaulty(_ path: [String]) -> Bool {
        faultyPaths.contains { $0.starts(with: path) }
    }

    /// Records the value that a setting has in effect.
    ///
    /// - Parameter file: the purpose of the file that it names.
    func record(
        _ path: [String], _ value: EffectiveSettings.Value?, _ origin: EffectiveSettings.Origin, file: NamedFile? = nil
    ) {
        effective.record(EffectiveSettings.Setting(path: path, value: value, origin: origin, file: file))
    }

    /// Ends the reading.
    ///
    /// - Returns: where each setting comes from.
    /// - Throws: ``SettingsError`` if anything is wrong.
    func finish() throws(SettingsError) -> EffectiveSettings {
        for message in variables.unknown() { report(nil, line: nil, message) }
        guard !faults.isEmpty else { return effective }
        // What stands on one line stays in the order in which it was read.
        let ordered = faults.enumerated().sorted { one, other in
            (one.element.rank.rawValue, one.element.fault.line ?? 0, one.offset)
                < (other.element.rank.rawValue, other.element.fault.line ?? 0, other.offset)
        }
        throw SettingsError(ordered.map(\.element.fault))
    }
}
