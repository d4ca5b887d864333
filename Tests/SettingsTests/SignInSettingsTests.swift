import Testing

@testable import Settings

@Suite struct SignInSettingsTests {
    private static func yaml(_ store: String, keys: String = "key_files: [k], ") -> String {
        "sign_ins: { \(keys)store: { \(store) } }\n" + provider
    }

    @Test(arguments: [
        ("username: u, password_file: p", ["username", "password_file"]),
        ("ca_file: c", ["ca_file"]),
        ("url: memory, certificate_file: c, key_file: k", ["certificate_file", "key_file"]),
        ("prefix: x, replicas: 0, timeout: 1s", ["prefix", "replicas", "timeout"]),
    ])
    func `what is for a server is refused beside memory`(store: String, names: [String]) throws {
        let reason = "has no effect with url: memory; set url to a server, or remove it"
        #expect(try faults(Self.yaml(store)).map(\.message) == names.map { "\($0) \(reason)" })
    }

    @Test(arguments: ["redis://h", "rediss://h", "unix:/s"])
    func `entries are refused beside a server`(url: String) throws {
        let fault = try fault(Self.yaml("url: \"\(url)\", entries: 5000"))
        #expect(fault.message == "entries only has an effect with url: memory; remove it")
    }

    @Test(arguments: ["redis://h", "unix:/s"])
    func `files of TLS are refused without TLS`(url: String) throws {
        #expect(try faults(Self.yaml("url: \"\(url)\", ca_file: c, certificate_file: c, key_file: k")).count == 3)
        _ = try settings(Self.yaml("url: \"rediss://h\", ca_file: c, certificate_file: c, key_file: k"))
    }

    @Test func `a user needs a password, and a certificate its key`() throws {
        #expect(
            try fault(Self.yaml("url: \"redis://h\", username: u")).message
                == "username needs password_file; add it, or remove both")
        _ = try settings(Self.yaml("url: \"redis://h\", password_file: p"))
        #expect(
            try fault(Self.yaml("url: \"rediss://h\", key_file: k")).message
                == "store needs both certificate_file and key_file, or neither")
    }

    @Test func `replicas that share a server need the same keys`() throws {
        #expect(
            try fault(Self.yaml("url: \"redis://h\"", keys: "")).message
                == "sign_ins.key_files is missing: with a shared store, all instances need the same keys; create one with assay key new"
        )
    }

}
