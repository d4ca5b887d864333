extension Settings {
    /// An API key, known by its digest only.
    package struct APIKey: Sendable, Equatable {
        /// What log and metrics call it.
        package var name: String
        /// SHA-256, 32 octets.
        package var digest: [UInt8]
    }
}

/// Reads `api_keys`: digests, or mappings of a name and a digest.
enum APIKeysReader {
    private static let digestText = "a SHA-256 digest in 64 hexadecimal digits"

    /// - Returns: the keys; one without a name is called `key-` and its place in the list. `nil` where there is no list.
    static func read(_ section: Section) -> [Settings.APIKey]? {
        let keys = section.mixedList("api_keys", digestText, isSecret: true) { text in
            digest(text).map { (name: nil as String?, digest: $0) }
        } mapping: { element in
            let name = element.scalar("name", "1 to 64 letters, digits, dots, hyphens and underscores", keyName)
            let digest = element.scalar("sha256", digestText, isSecret: true, digest)
            if name == nil { element.refuseMissing("name", "an API key needs both name and sha256") }
            if digest == nil { element.refuseMissing("sha256", "an API key needs both name and sha256") }
            element.finish()
            guard let name, let digest else { return nil }
            return (name, digest)
        }
        guard let keys else { return nil }
        var named: [Settings.APIKey] = []
        for (index, key) in keys.enumerated() {
            let name = key.name ?? "key-\(index + 1)"
            if named.contains(where: { $0.name == name }) {
                section.refuse("api_keys", "two of api_keys are called \(name); give each a name of its own")
            }
            named.append(Settings.APIKey(name: name, digest: key.digest))
        }
        return named
    }

    private static func keyName(_ text: String) -> String? {
        let isName = text.utf8.allSatisfy { octet in
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return (1...64).contains(text.utf8.count) && isName ? text : nil
    }

    private static func digest(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 64, text.allSatisfy(\.isHexDigit) else { return nil }
        var octets: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            guard let octet = UInt8(String(decoding: digits[index..<(index + 2)], as: UTF8.self), radix: 16) else {
                return nil
            }
            octets.append(octet)
        }
        return octets
    }
}
