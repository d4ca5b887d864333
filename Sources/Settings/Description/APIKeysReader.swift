private import Bytes

/// Reads `api_keys`: digests, or mappings of a name and a digest.
enum APIKeysReader {
    private static let name = Setting(
        "name",
        .text(
            "1 to 64 letters, digits, dots, hyphens and underscores", pattern: "^[A-Za-z0-9._-]{1,64}$",
            isGood: { $0.isName(upTo: 64) }),
        isRequired: true, "The key's name in the log and in metrics.")
    private static let sha256 = Setting("sha256", digest, isRequired: true, "The key's SHA-256 digest.")

    /// - Parameter defaultDescription: the default in words, if there is one.
    static func setting(defaultDescription: String? = nil, _ help: String) -> Setting<[Settings.APIKey]> {
        let pair = ValueForm.section([name.description, sha256.description])
        return Setting(
            SettingDescription(
                name: "api_keys", expected: "a list; each element: \(digest.expected), or `{ name: …, sha256: … }`",
                form: .list(of: .either(digest.form, pair)), help: help, defaultDescription: defaultDescription),
            read: read,
            shown: { $0.isEmpty ? nil : .list($0.map { digest.text($0.digest) }) })
    }

    /// - Returns: the keys; `nil` if there is no list. A key without a name is called `key-` and its position in the
    ///   list.
    @Sendable private static func read(_ section: Section) -> [Settings.APIKey]? {
        let unnamed = ValueType(expected: digest.expected, form: digest.form, isSecret: true) { text in
            digest.parse(text).map { Settings.APIKey(name: "", digest: $0) }
        } text: {
            digest.text($0.digest)
        }
        let keys = section.list("api_keys", unnamed) { element in
            let name = name.read(element)
            let digest = sha256.read(element)
            if name == nil { element.refuseMissing("name", "an API key needs both name and sha256") }
            if digest == nil { element.refuseMissing("sha256", "an API key needs both name and sha256") }
            element.finish()
            guard let name, let digest else { return nil }
            return Settings.APIKey(name: name, digest: digest)
        }
        guard let keys else { return nil }
        var named: [Settings.APIKey] = []
        for (index, key) in keys.enumerated() {
            let name = key.name.isEmpty ? "key-\(index + 1)" : key.name
            if named.contains(where: { $0.name == name }) {
                section.refuse("api_keys", "duplicate name \(name) in api_keys; rename one")
            }
            if key.digest == GuessableKeys.empty {
                section.refuse(
                    "api_keys",
                    "\(name) in api_keys is the digest of an empty key; was the variable with the key unset? Create a key with assay api-key"
                )
            }
            named.append(Settings.APIKey(name: name, digest: key.digest))
        }
        return named
    }

    private static let digest = ValueType<[UInt8]>(
        expected: "a SHA-256 digest in 64 hexadecimal digits", form: .text(pattern: "^[0-9A-Fa-f]{64}$"), isSecret: true
    ) { text in
        [UInt8](hexadecimal: text).flatMap { $0.count == 32 ? $0 : nil }
    } text: { octets in
        String(hexadecimal: octets.span)
    }
}
