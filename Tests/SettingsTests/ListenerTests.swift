import HTTP
@testable import Settings
import Testing
import Verification

@Suite struct ListenerTests {
    private static let digest = String(repeating: "0f", count: 32)
    private static let other = String(repeating: "1e", count: 32)

    // MARK: Empty values

    @Test(arguments: [
        ("tls: {}", "tls needs both"), ("tls:", "tls needs both"), ("tls: null", "tls needs both"),
        ("tls: { certificate_file: /c, key_file: /k, client_ca_file: }", "client_ca_file is empty"),
        ("tls: { certificate_file: /c, key_file: /k, client_ca_file: ~ }", "client_ca_file is empty"),
    ])
    func `an empty value does not switch TLS or certificates off`(yaml: String, message: String) throws {
        for name in ["service", "admin"] {
            let fault = try fault("\(name):\n  \(yaml)\n" + provider)
            #expect(fault.message.hasPrefix(message))
        }
    }

    // MARK: Client names

    @Test func `a client may have to have one of some names`() throws {
        for name in ["service", "admin"] {
            let files = "certificate_file: /c, key_file: /k, client_ca_file: /a"
            let names = #"[ "spiffe://a.b/c", backend.example.org, "urn:x:y" ]"#
            let settings = try settings("\(name): { tls: { \(files), client_names: \(names) } }\n" + provider)
            let tls = name == "service" ? settings.service.tls : settings.admin.tls
            #expect(tls?.clientNames == ["spiffe://a.b/c", "backend.example.org", "urn:x:y"])
        }
    }

    @Test(arguments: [
        ("client_ca_file: /a, client_names: []", "client_names must have at least one name"),
        ("client_ca_file: /a, client_names: [ 'a b' ]", "each of client_names must be a URI"),
        ("client_ca_file: /a, client_names: [ '1:x' ]", "each of client_names must be a URI"),
        ("client_ca_file: /a, client_names: [ 'x:' ]", "each of client_names must be a URI"),
        ("client_ca_file: /a, client_names: [ '*.a' ]", "each of client_names must be a URI"),
        ("client_names: [ a ]", "client_names needs client_ca_file"),
    ])
    func `names of clients are URIs and DNS names, and need an authority`(yaml: String, message: String) throws {
        let fault = try fault("service:\n  tls: { certificate_file: /c, key_file: /k, \(yaml) }\n" + provider)
        #expect(fault.message.contains(message))
    }

    // MARK: Key names

    @Test func `a key has the name it is given, or one of its place`() throws {
        let keys = "[ \(Self.digest), { name: new.key_2-a, sha256: \(Self.other) } ]"
        let settings = try settings(
            "api_keys: \(keys)\nadmin: { api_keys: [ { name: ops, sha256: \(Self.digest) } ] }\n" + provider)
        #expect(settings.apiKeys.map(\.name) == ["key-1", "new.key_2-a"])
        #expect(
            settings.apiKeys.map(\.digest) == [
                [UInt8](repeating: 0x0f, count: 32), [UInt8](repeating: 0x1e, count: 32),
            ])
        #expect(settings.operatorKeys.map(\.name) == ["ops"])
    }

    @Test func `a key is for everything, or for what it allows`() throws {
        let keys = "[ \(Self.digest), { name: gateway, sha256: \(Self.other), allow: [forward_auth, explain] } ]"
        let settings = try settings("api_keys: \(keys)\n" + provider)
        #expect(settings.apiKeys.map(\.permissions) == [APIKey.Permission.all, [.forwardAuth, .explain]])
    }

    @Test(arguments: [
        ("{ name: a }", "needs both name and sha256"), ("{ sha256: DIGEST }", "needs both name and sha256"),
        ("{ name: 'a b', sha256: DIGEST }", "name must be"), ("{ name: a, sha256: 12 }", "sha256 must be"),
        ("{ name: a, sha256: DIGEST, x: 1 }", "x"), ("[ DIGEST ]", "each of api_keys must be"),
        ("{ name: key-1, sha256: DIGEST }", "duplicate name key-1"),
        ("{ name: a, sha256: DIGEST, allow: [] }", "allow must name at least one path"),
        ("{ name: a, sha256: DIGEST, allow: [verifying] }", "each of allow must be"),
        ("{ name: a, sha256: DIGEST, allow: [verify, verify] }", "allow"),
        ("{ name: a, sha256: DIGEST, allow: verify }", "allow must be"),
        ("{ name: a, sha256: DIGEST, allow: [verify] }", "but another allow"),
    ])
    func `a key that is half there, or has another's name, is refused`(key: String, message: String) throws {
        let other = "{ name: other, sha256: \(Self.other) }"
        let key = key.replacingOccurrences("DIGEST", Self.digest)
        let fault = try fault("api_keys:\n  - \(Self.digest)\n  - \(other)\n  - \(key)\n" + provider)
        #expect(fault.message.contains(message))
    }

    // MARK: Hosts

    @Test func `names of the admin listener are read in any case of letters`() throws {
        #expect(
            try settings("admin: { hosts: [ Assay.Internal, a-b_c ] }\n" + provider).adminHosts == [
                "assay.internal", "a-b_c",
            ])
        for host in ["a:1", "http://a", "''", "a b", "*"] {
            let fault = try fault("admin: { hosts: [ '\(host.filter { $0 != "'" })' ] }\n" + provider)
            #expect(fault.message.contains("each of hosts must be a host name"))
        }
    }

    // MARK: Sockets

    @Test func `a socket is its owner's alone unless it is said otherwise`() throws {
        let settings = try settings("service: { listen: 'unix:/a' }\n" + provider)
        #expect(settings.service.listen == .unixSocket(path: "/a", SocketPermissions(mode: 0o600, group: nil)))
    }

    @Test(arguments: [
        ("mode: 0660", SocketPermissions(mode: 0o660)), ("mode: \"0660\"", SocketPermissions(mode: 0o660)),
        ("mode: 660", SocketPermissions(mode: 0o660)), ("mode: 0777", SocketPermissions(mode: 0o777)),
        ("mode: '0600', group: backend", SocketPermissions(mode: 0o600, group: "backend")),
        ("group: 1000", SocketPermissions(mode: 0o600, group: "1000")),
    ])
    func `a socket has a mode and a group`(yaml: String, socket: SocketPermissions) throws {
        for name in ["service", "admin"] {
            let settings = try settings("\(name): { listen: 'unix:/a', socket: { \(yaml) } }\n" + provider)
            #expect((name == "service" ? settings.service : settings.admin).listen == .unixSocket(path: "/a", socket))
        }
    }

    @Test(arguments: [
        "0o660", "06600", "1660", "0668", "66", "6", "rw-rw----", "-660", "+660", "0x1b0", "0060", "0460", "0000",
        "０６６０", "[0660]", "''",
    ])
    func `a mode is octal, and leaves the owner in`(mode: String) throws {
        let fault = try fault("service:\n  listen: unix:/a\n  socket:\n    mode: \(mode)\n" + provider)
        #expect(fault.line == 4)
        #expect(fault.message.hasPrefix("mode must be an octal mode such as 0660"))
    }

    @Test(arguments: ["service", "admin"])
    func `a port has no mode`(name: String) throws {
        for listen in ["", "  listen: 127.0.0.1:80\n"] {
            let fault = try fault("\(name):\n\(listen)  socket: { mode: '0660' }\n" + provider)
            #expect(fault.line == (listen.isEmpty ? 2 : 3))
            #expect(fault.message.hasPrefix("socket only has an effect with listen: unix:/path"))
        }
    }

    @Test func `what is misspelt in a socket or in TLS is named`() throws {
        #expect(try fault("service:\n  listen: unix:/a\n  socket:\n    user: a\n" + provider).line == 4)
        #expect(try fault("service:\n  tls:\n    client_ca: a\n" + provider).line == 3)
        #expect(try fault("service:\n  mode: '0660'\n" + provider).line == 2)
        #expect(try fault("service:\n  api_keys: []\n" + provider).line == 2)
    }

    // MARK: TLS

    @Test func `either listener may have TLS, wherever it listens`() throws {
        let yaml = """
            service: { listen: "unix:/a", tls: { certificate_file: /c, key_file: /k } }
            admin: { tls: { certificate_file: /d, key_file: /l, client_ca_file: /a } }

            """
        let settings = try settings(yaml + provider)
        #expect(settings.service.tls == TLSFiles(certificate: "/c", key: "/k", clientAuthorities: nil))
        #expect(settings.admin.tls == TLSFiles(certificate: "/d", key: "/l", clientAuthorities: "/a"))
    }

    @Test(arguments: [
        "certificate_file: /c", "key_file: /k", "client_ca_file: /a", "certificate_file: /c\n    client_ca_file: /a",
        "certificate_file: /c\n    key_file:",
    ])
    func `a certificate is nothing without its key, and the other way round`(yaml: String) throws {
        let fault = try fault("service:\n  tls:\n    \(yaml)\n" + provider)
        #expect(fault.message == "tls needs both certificate_file and key_file")
        #expect(fault.line == 3)
    }

    // MARK: Access control

    private static let remote = ["0.0.0.0:1", "[::]:1", "10.0.0.1:1", "example.com:1", "127.example.com:1"]

    @Test(arguments: remote)
    func `a listener that others can reach must know who may call`(listen: String) throws {
        for name in ["service", "admin"] {
            let fault = try fault("log: { level: info }\n\(name):\n  listen: '\(listen)'\n" + provider)
            #expect(fault.line == 3)
            #expect(fault.message.hasPrefix("\(name).listen is reachable from other machines"))
        }
    }

    @Test func `so must one that the environment put there`() throws {
        let fault = try fault(provider, ["ASSAY_ADMIN_LISTEN": "0.0.0.0:9090"])
        #expect(fault.message.hasPrefix("admin.listen is reachable from other machines"))
    }

    @Test(arguments: [
        "service: { listen: '0.0.0.0:1', tls: { certificate_file: c, key_file: k } }\n",
        "service: { listen: '0.0.0.0:1' }\napi_keys: []\n",
        "service: { listen: '0.0.0.0:1' }\nallow_insecure_listen: false\n",
        // API keys of one listener don't apply to the other.
        "service: { listen: '0.0.0.0:1' }\nadmin: { api_keys: [\(digest)] }\n",
        "admin: { listen: '0.0.0.0:1', api_keys: [] }\napi_keys: [\(digest)]\n",
        "admin: { listen: '0.0.0.0:1' }\n"
            + "service: { tls: { certificate_file: c, key_file: k, client_ca_file: a } }\n",
    ])
    func `what says nothing of who may call does not help`(yaml: String) throws {
        #expect(try fault(yaml + provider).message.contains("is reachable from other machines"))
    }

    @Test(arguments: [
        "service: { listen: '0.0.0.0:1' }\napi_keys: [\(digest)]\n",
        "service: { listen: '0.0.0.0:1', tls: { certificate_file: c, key_file: k, client_ca_file: a } }\n",
        "service: { listen: '0.0.0.0:1' }\nallow_insecure_listen: true\n",
        "admin: { listen: '0.0.0.0:1' }\napi_keys: [\(digest)]\n",
        "admin: { listen: '0.0.0.0:1', api_keys: [\(digest)] }\n",
        "admin: { listen: '0.0.0.0:1' }\nallow_insecure_listen: true\n",
        "service: { listen: 'unix:/a', socket: { mode: '0666' } }\nadmin: { listen: '[::1]:1' }\n",
    ])
    func `what says who may call lets it listen anywhere`(yaml: String) throws {
        _ = try settings(yaml + provider)
    }

    @Test func `the console is off unless it is turned on`() throws {
        #expect(try !settings(provider).servesConsole)
        #expect(try !settings("admin: { console: false }\n" + provider).servesConsole)
        #expect(try settings("admin: { console: true }\n" + provider).servesConsole)
        #expect(try settings(provider, ["ASSAY_ADMIN_CONSOLE": "true"]).servesConsole)
        #expect(try !settings("admin: { console: true }\n" + provider, ["ASSAY_ADMIN_CONSOLE": "false"]).servesConsole)
        for yaml in ["admin:\n  console: yes\n", "admin:\n  console: [true]\n", "service:\n  console: true\n"] {
            #expect(try fault(yaml + provider).line == 2)
        }
    }

    @Test func `operators have the keys of callers, or keys of their own, or none`() throws {
        let keys = [UInt8](repeating: 0x0f, count: 32)
        let callers = "api_keys: [\(Self.digest)]\n"
        #expect(try settings(provider).operatorKeys.map(\.digest) == [])
        #expect(try settings(callers + provider).operatorKeys.map(\.digest) == [keys])
        let own = try settings(callers + "admin: { api_keys: [\(Self.other)] }\n" + provider)
        #expect(own.operatorKeys.map(\.digest) == [[UInt8](repeating: 0x1e, count: 32)])
        #expect(own.apiKeys.map(\.digest) == [keys])
        #expect(try settings(callers + "admin: { api_keys: [] }\n" + provider).operatorKeys.map(\.digest) == [])
        #expect(try fault("admin:\n  api_keys: [abc]\n" + provider).line == 2)
    }
}

extension String {
    fileprivate func replacingOccurrences(_ text: String, _ other: String) -> String {
        split(separator: text, omittingEmptySubsequences: false).joined(separator: other)
    }
}
