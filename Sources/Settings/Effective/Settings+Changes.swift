extension Settings {
    /// The keys of the file whose values are not a running service's, and that only a restart can change: what listens, and
    /// where keys are kept on disk.
    ///
    /// - Returns: their names as the file spells them, `service.listen` among them; none, where the service can change over.
    package func changesThatNeedRestart(from running: Settings) -> [String] {
        allChanges(from: running).filter { $0.when == .restart }.map(\.name)
    }

    /// The keys of the file whose values differ from a running service's, as the file spells them. A provider that came or
    /// went is named with that word.
    package func changes(from running: Settings) -> [String] { allChanges(from: running).map(\.name) }

    private func allChanges(from running: Settings) -> [SettingChange] {
        Self.members.flatMap { $0.changes(self, running) }
    }
}
