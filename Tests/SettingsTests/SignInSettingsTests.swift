@testable import Settings
import Testing

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

    /// Hosts give one `REDIS_URL` with a name and a password.
    @Test(arguments: [
        "redis://name:canary@h:6379/0", "rediss://:canary@h", "redis://name:canary/canary@h", "redis://canary@h",
    ])
    func `a URL with a password is not shown, and the message says where these belong`(url: String) throws {
        let message = try fault(Self.yaml("url: \"\(url)\"")).message
        #expect(!message.contains("canary"))
        #expect(
            message.hasSuffix(
                "; the name belongs in username (the default user needs none), and the password in a file that password_file names"
            ))
    }

    @Test func `eviction is not allowed unless the settings say so, and only at a server`() throws {
        func allowed(_ more: String) throws -> Bool? {
            try settings(Self.yaml("url: \"redis://h\"" + more)).signIns?.store.allowsEviction
        }
        #expect(try allowed("") == false)
        #expect(try allowed(", allow_eviction: true") == true)
        #expect(
            try fault(Self.yaml("allow_eviction: true")).message
                == "allow_eviction has no effect with url: memory; set url to a server, or remove it")
    }

}
