private import OpenSSL

/// Digests of API keys that are no secrets.
enum GuessableKeys {
    /// The digest of the empty key, which a script makes if its variable is not set.
    static let empty = digest("")

    /// The digests of the keys that people choose while they try something, and attackers try first.
    static let digests = Set(
        [
            "test", "secret", "password", "admin", "key", "apikey", "api-key", "api_key", "token", "changeme",
            "change-me",
            "default", "example", "assay", "dev", "demo", "letmein", "qwerty", "123456", "12345678",
        ].compactMap(digest))

    /// - Returns: `nil` if OpenSSL is out of memory.
    private static func digest(_ key: String) -> [UInt8]? {
        try? DigestContext().digest(Array(key.utf8).span, with: .sha256)
    }
}
