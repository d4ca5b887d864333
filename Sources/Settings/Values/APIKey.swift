extension Settings {
    /// An API key, stored as a digest only.
    package struct APIKey: Sendable, Equatable {
        /// Its name in the log and in metrics.
        package var name: String
        /// SHA-256, 32 octets.
        package var digest: [UInt8]

        /// Whether an attacker would find the key by trying a few words.
        var isGuessable: Bool { GuessableKeys.digests.contains(digest) }
    }
}
