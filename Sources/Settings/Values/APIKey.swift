extension Settings {
    /// An API key, known by its digest only.
    package struct APIKey: Sendable, Equatable {
        /// What log and metrics call it.
        package var name: String
        /// SHA-256, 32 octets.
        package var digest: [UInt8]
    }
}
