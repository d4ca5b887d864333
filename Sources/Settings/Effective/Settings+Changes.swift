extension Settings {
    /// The settings that differ from a running service's and need a restart, such as listeners and the cache directory.
    ///
    /// - Returns: their names as written in the file, such as `service.listen`; empty if a reload is enough.
    package func changesThatNeedRestart(from running: Settings) -> [String] {
        allChanges(from: running).filter { $0.when == .restart }.map(\.name)
    }

    /// The settings that differ from a running service's, as written in the file. Added and removed providers are
    /// marked as such.
    package func changes(from running: Settings) -> [String] { allChanges(from: running).map(\.name) }

    private func allChanges(from running: Settings) -> [SettingChange] {
        Self.members.flatMap { $0.changes(self, running) }
    }
}
