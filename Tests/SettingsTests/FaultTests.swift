import HTTP
import IDToken
import Settings
import Testing
import Verification

@Suite struct FaultTests {
    // MARK: Lines

    @Test(
        arguments: [
            ("clock_skew: 5\n", 1, "clock_skew must be a duration such as 30s, 5m or 24h, 0s to 300s"),
            ("\n\nclock_skew: 301s\n", 3, "clock_skew must be a duration"),
            ("# comment\nservice:\n  listen: nowhere\n", 3, "listen must be host:port or unix:/path"),
            ("limits:\n  max_body: 64KiB\n  max_header: 10\n", 3, "max_header must be a size"),
            ("limits:\n  max_connections: many\n", 2, "max_connections must be an integer from 1 to 1000000"),
            ("limits: [1]\n", 1, "found a list; expected a mapping"),
            ("log:\n\n  level: loud\n", 3, "level must be one of debug, info, warning, error"),
            ("log: { requests: no }\n", 1, "requests must be true, false or refused"),
            (
                "api_keys:\n  - 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae\n  - abc\n", 3,
                "each of api_keys"
            ),
            ("api_keys: abc\n", 1, "api_keys must be a list"),
            ("keys: { stale_for: 31d }\n", 1, "stale_for must be a duration"),
            ("keys: { max_fetches: 0 }\n", 1, "max_fetches must be an integer from 1 to 1000"),
            ("verified_token_cache: { entries: -1 }\n", 1, "entries must be an integer from 0 to 1000000"),
            ("cache_directory: [a]\n", 1, "cache_directory must be a string"),
            ("cache_directory: ''\n", 1, "cache_directory must be a string"),
            ("shutdown_grace: 601s\n", 1, "shutdown_grace must be a duration"),
            ("shutdown_delay: 301s\n", 1, "shutdown_delay must be a duration"),
            ("clock_skew: { a: 1 }\n", 1, "clock_skew must be a duration"),
        ] as [(String, Int, String)])
    func `an invalid value is reported with its line and the expected value`(yaml: String, line: Int, message: String)
        throws
    {
        let fault = try fault(yaml + provider)
        #expect(fault.line == line)
        #expect(fault.message.hasPrefix(message), "\(fault.message)")
        #expect(fault.description == "line \(line): \(fault.message)")
    }

    @Test(
        arguments: [
            ("issuer: https://a.example\naudiences: []", 4, "audiences must name at least one"),
            ("issuer: https://a.example", 2, "provider p needs audiences"),
            ("audiences: [a]", 2, "provider p needs an issuer"),
            ("preset: facebook\naudiences: [a]", 3, "preset must be one of apple, auth0, authentik, aws-alb"),
            ("preset: Apple\naudiences: [a]", 3, "preset must be one of"),
            ("preset: apple\naudiences: a", 4, "audiences must be a list"),
            ("preset: apple\naudiences:\n  - a\n  - [b]", 6, "each of audiences must be a string"),
            ("preset: apple\naudiences:\n  - a\n  -", 6, "each of audiences must be a string"),
            ("preset: apple\naudiences: [a]\nalgorithms: [RS256, HS256]", 5, "each of algorithms must be one of RS256"),
            ("preset: apple\naudiences: [a]\nalgorithms: [none]", 5, "each of algorithms"),
            ("preset: apple\naudiences: [a]\nalgorithms: [rs256]", 5, "each of algorithms"),
            ("preset: apple\naudiences: [a]\nalgorithms: []", 5, "algorithms must name at least one"),
            ("preset: apple\naudiences: [a]\nnonce: { match: [] }", 5, "match must name at least one form"),
            ("preset: apple\naudiences: [a]\nnonce:\n  match: [sha1]", 6, "each of match must be one of sha256_hex"),
            ("preset: apple\naudiences: [a]\nnonce:\n  check: false", 6, "check must be on or off"),
            (
                "preset: apple\naudiences: [a]\nnonce:\n  check: off\n  required: true", 7,
                "required: true has no effect with check: off; remove one of them"
            ),
            (
                "preset: apple\naudiences: [a]\nnonce:\n  check: off\n  single_use: true", 7,
                "single_use needs nonce checks, but check is off; remove one of them"
            ),
            (
                "preset: apple\naudiences: [a]\nnonce:\n  required: false\n  single_use: true", 6,
                "single_use needs a nonce in every request; remove required: false"
            ),
            (
                "preset: apple\naudiences: [a]\nmax_token_age: 25h\nnonce:\n  single_use: true", 5,
                "max_token_age must be at most 24h with nonce.single_use"
            ),
            ("preset: apple\naudiences: [a]\noptional: yes", 5, "optional must be true or false"),
            ("preset: apple\naudiences: [a]\noptional: \"maybe\"", 5, "optional must be true or false"),
            ("preset: apple\naudiences: [a]\nclock_skew: 301s", 5, "clock_skew must be a duration"),
            ("preset: apple\naudiences: [a]\nmax_token_age: 0s", 5, "max_token_age must be a duration"),
            ("preset: apple\naudiences: [a]\nmax_token_age: 367d", 5, "max_token_age must be a duration"),
            (
                "preset: apple\naudiences: [a]\njwks_uri: http://a.example", 5,
                "jwks_uri must be a URL that begins with https:// (http:// needs network.allow_http)"
            ),
            ("preset: apple\naudiences: [a]\njwks_uri: /keys", 5, "jwks_uri must be a URL"),
            (
                "preset: apple\naudiences: [a]\njwks_uri: https://a@b/k", 5,
                "jwks_uri is not a URL that keys can be fetched from: a URL must not"
            ),
            (
                "preset: apple\naudiences: [a]\njwks_uri: https://a/k#x", 5,
                "jwks_uri is not a URL that keys can be fetched from: a URL to"
            ),
            (
                "preset: apple\naudiences: [a]\njwks_uri: 'https://a b/k'", 5,
                "jwks_uri is not a URL that keys can be fetched from: a URL must"
            ),
            (
                "preset: apple\naudiences: [a]\njwks_uri: https://ä.example/k", 5,
                "jwks_uri is not a URL that keys can be fetched from"
            ),
            (
                "preset: apple\naudiences: [a]\njwks_uri: https://a:65536/k", 5,
                "jwks_uri is not a URL that keys can be fetched from: a URL needs"
            ),
            (
                "preset: apple\naudiences: [a]\njwks_uri: https://a:/k", 5,
                "jwks_uri is not a URL that keys can be fetched from: a URL needs"
            ),
            (
                "preset: apple\naudiences: [a]\njwks_uri: https:///k", 5,
                "jwks_uri is not a URL that keys can be fetched from: a URL needs"
            ),
            (
                "preset: apple\naudiences: [a]\ndiscovery_url: https://a..b/", 5,
                "discovery_url is not a URL that keys can be fetched from"
            ),
            (
                "preset: apple\naudiences: [a]\ncertificates_uri: https://[::1/", 5,
                "certificates_uri is not a URL that keys can be fetched"
            ),
            (
                "issuer: https://a@b\naudiences: [a]", 3,
                "issuer is not a URL that keys can be fetched from: a URL must not carry credentials"
            ),
            (
                "issuer: https://a/#b\naudiences: [a]", 3,
                "issuer is not a URL that keys can be fetched from: a URL to fetch has no fragment"
            ),
            ("issuer: https://a/?b\naudiences: [a]", 3, "an issuer with a query (?) has no discovery document"),
            ("preset: apple\naudiences: [a]\ndiscovery_url: ftp://a", 5, "discovery_url must be a URL"),
            (
                "preset: apple\naudiences: [a]\njwks_uri: https://a.example\ndiscovery_url: https://a.example/d", 2,
                "set only one of discovery_url, jwks_uri, certificates_uri and public_key_uri"
            ),
            (
                "audiences: [a]\njwks_uri: https://a.example\nissuer: https://a.example\njwks_file: /a\n"
                    + "discovery_url: https://a.example/d", 2,
                "set only one of discovery_url, jwks_uri, certificates_uri and public_key_uri"
            ),
            (
                "preset: apple\naudiences: [a]\njwks_uri: https://a.example\njwks_file: ''", 6,
                "jwks_file must be a path"
            ),
            ("preset: apple\naudiences: [a]\njwks_file: [/a]", 5, "jwks_file must be a path"),
            (
                "audiences: [a]\nissuer: auth.example.com", 4,
                "an issuer that is not an https URL has no discovery document: write https://auth.example.com if that is iss in its tokens; otherwise, set discovery_url, jwks_uri or jwks_file"
            ),
            (
                "audiences: [a]\nissuer: ftp://auth.example.com", 4,
                "an issuer that is not an https URL has no discovery document: set discovery_url"
            ),
            (
                "preset: apple\naudiences: [a]\nissuer: https://appleid.apple.com/", 5,
                "no token has the issuer https://appleid.apple.com/: it is https://appleid.apple.com, byte for byte"
            ),
            (
                "audiences: [a]\nissuer: https://accounts.google.com/", 4,
                "no token has the issuer https://accounts.google.com/: it is https://accounts.google.com, byte for byte"
            ),
            (
                "preset: apple\naudiences: [a]\nalgorithms: [HS256]", 5,
                "each of algorithms must be one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519, Ed448; found \"HS256\"; tokens that are signed with a shared secret"
            ),
            (
                "preset: microsoft\naudiences: [a]\ntenant: contoso.onmicrosoft.com", 5,
                "tenant must be the tenant's UUID in lower case, or common, organizations or consumers; found \"contoso.onmicrosoft.com\"; tokens name a tenant by its UUID, not by a domain: find the UUID in the issuer of https://login.microsoftonline.com/contoso.onmicrosoft.com/v2.0/"
            ),
            (
                "preset: microsoft\naudiences: [a]\ntenant: 9188040D-6C67-4C5B-B112-36A304B66DAD", 5,
                "tenant must be the tenant's UUID in lower case, or common, organizations or consumers; found \"9188040D-6C67-4C5B-B112-36A304B66DAD\"; write it in lower case"
            ),
            (
                "preset: microsoft\naudiences: [a]\ntenant: common\ntenants: [contoso.onmicrosoft.com]", 6,
                "tenants: \"contoso.onmicrosoft.com\": tokens name a tenant by its UUID"
            ),
            (
                "preset: microsoft\naudiences: [a]\ntenants: [9188040d-6c67-4c5b-b112-36a304b66dad]", 2,
                "provider p needs a tenant for preset microsoft: the tenant's UUID in lower case, or common, organizations or consumers; tenants only narrows it"
            ),
            (
                "issuer: https://a.example\naudiences: [a]\ntenant: common", 5,
                "unknown setting tenant; only presets azure-b2c, entra-external, microsoft, microsoft-v1 have it; did you mean tenants?"
            ),
            (
                "audiences: [a]\ntenant: common", 4,
                "unknown setting tenant; only presets azure-b2c, entra-external, microsoft, microsoft-v1 have it; did you mean tenants?"
            ),
            (
                "issuer: https://a.example\naudiences: [a]\nsubdomain: a", 5,
                "unknown setting subdomain; only presets azure-b2c, entra-external have it"
            ),
            (
                "preset: auth0\naudiences: [a]\ndomain: https://a.auth0.com/", 5, "domain must be "
            ),
            (
                "issuer: ${ISSUER}\naudiences: [a]", 3,
                "${ISSUER} is not expanded in this file: write the value itself, or leave the setting out"
            ),
            ("issuer: https://a.example\naudiences:\n  - \"${CLIENT:-a}\"", 5, "${CLIENT} is not expanded"),
            (
                "issuer: https://a.example\naudiences: [${CLIENT}]", 4,
                "the file is not YAML: "
            ),
            ("audiences: [a]\nissuer: http://auth.example.com", 4, "discovery does not use http"),
            ("preset: apple\naudiences: [a]\nnetwork: true", 5, "found \"true\"; expected a mapping"),
            ("preset: apple\naudiences: [a]\nnetwork: { allow_http: 1 }", 5, "allow_http must be true or false"),
            (
                "preset: apple\naudiences: [a]\nnetwork:\n  allow_addresses:\n    - 10.0.0.0/8\n    - 10.0.0.1/8", 8,
                "each of allow_addresses must be an address or a block such as 10.0.0.0/8, with no host bits set"
            ),
            (
                "preset: apple\naudiences: [a]\nnetwork: { allow_addresses: 10.0.0.0/8 }", 5,
                "allow_addresses must be a list"
            ),
            ("preset: apple\naudiences: [a]\nnetwork: { allow_addresses: }", 5, "allow_addresses must be a list"),
            (
                "preset: apple\naudiences: [a]\nnetwork: { allow_addresses: [true] }", 5,
                "each of allow_addresses must be"
            ),
            ("preset: apple\naudiences: [a]\nnetwork: { allow_addresses: [[]] }", 5, "each of allow_addresses must be"),
            ("preset: apple\naudiences: [a]\nnetwork: { allow_addresses: [~] }", 5, "each of allow_addresses must be"),
            (
                "preset: apple\naudiences: [a]\nnetwork: { allow_addresses: [localhost] }", 5,
                "each of allow_addresses must be"
            ),
            (
                "preset: apple\naudiences: [a]\nnetwork: { allow_addresses: ['10.0.0.0/33'] }", 5,
                "each of allow_addresses must be"
            ),
            (
                "preset: apple\naudiences: [a]\nnetwork: { allow_addresses: ['::ffff:10.0.0.0/104'] }", 5,
                "each of allow_addresses must be"
            ),
        ] as [(String, Int, String)])
    func `a bad value of a provider is named with its line`(text: String, line: Int, message: String) throws {
        let fault = try fault("providers:\n  - id: p\n" + indented(text))
        #expect(fault.line == line)
        #expect(fault.message.hasPrefix(message), "\(fault.message)")
    }

    @Test func `a brace of a reference to a variable is explained`() throws {
        let fault = try fault("providers:\n  - id: p\n    audiences: [${CLIENT}]\n")
        #expect(fault.message.hasPrefix("the file is not YAML: "), "\(fault.message)")
        #expect(fault.message.contains("; ${CLIENT} is not expanded in this file"), "\(fault.message)")
    }

    @Test(arguments: ["$", "${}", "${1}", "$CLIENT", "a$b{c}"])
    func `a dollar sign alone is no reference`(text: String) throws {
        #expect(
            try read(provider: "preset: apple\naudiences: [\"\(text)\"]").policy.audiences == [text])
    }

    // MARK: Unknown and repeated keys

    @Test(arguments: [
        ("clock_skwe: 5s\n" + provider, 1, "clock_skwe", "clock_skew"),
        (provider + "provider: x\n", 5, "provider", "providers"),
        ("service: { listen: '127.0.0.1:1', port: 2 }\n" + provider, 1, "port", nil),
        ("admin:\n  adress: x\n" + provider, 2, "adress", nil),
        ("keys:\n  stale: 1h\n" + provider, 2, "stale", nil),
        ("limits:\n  max_body: 64KiB\n  maxbody: 1\n" + provider, 3, "maxbody", "max_body"),
        ("log: { Level: info }\n" + provider, 1, "Level", "level"),
        ("verified_token_cache:\n  size: 5\n" + provider, 2, "size", nil),
        (provider + "    audience: [a]\n", 5, "audience", "audiences"),
        (provider + "    nonce:\n      reqired: true\n", 6, "reqired", "required"),
        (provider + "    network: { allow_http: false, proxy: x }\n", 5, "proxy", nil),
        (provider + "    network: { allow_adresses: ['10.0.0.0/8'] }\n", 5, "allow_adresses", "allow_addresses"),
        (provider + "    <<: { optional: true }\n", 5, "<<", nil),
    ])
    func `a misspelt key is refused at every level, with its line and what there is`(
        yaml: String, line: Int, key: String, nearest: String?
    ) throws {
        let fault = try fault(yaml)
        #expect(fault.line == line)
        if let nearest {
            #expect(fault.message == "unknown setting \(key); did you mean \(nearest)?")
        } else {
            #expect(fault.message.hasPrefix("unknown setting \(key); known settings: "), "\(fault.message)")
        }
    }

    @Test(arguments: [
        ("clock_skew: 5s\nclock_skew: 6s\n" + provider, "clock_skew", 1...2),
        ("clock_skew: 5s\n\"clock_skew\": 6s\n" + provider, "clock_skew", 1...2),
        (provider + provider, "providers", 1...5),
        ("limits:\n  max_body: 64KiB\n  max_body: 64KiB\n" + provider, "max_body", 2...3),
        (provider + "    audiences: [b]\n", "audiences", 4...5),
        (provider + "    id: b\n", "id", 2...5),
        ("limits: { max_body: 64KiB, max_body: 64KiB }\n" + provider, "max_body", 1...1),
    ])
    func `a duplicate key is rejected with its line`(
        yaml: String, key: String, lines: ClosedRange<Int>
    ) throws {
        let fault = try fault(yaml)
        #expect(fault.message == "duplicate key \(key)")
        #expect(lines.contains(try #require(fault.line)))
    }

    // MARK: YAML

    @Test(arguments: [
        ("a: b: c\n", 1), ("providers: [\n", 1), ("a: 'open\n", 1), ("\u{1}", 1), ("- a\nb: c\n", 2),
    ])
    func `a file that is not YAML is rejected`(yaml: String, line: Int) throws {
        let fault = try fault(yaml)
        #expect(fault.message.hasPrefix("the file is not YAML: "), "\(fault.message)")
        #expect(fault.line == line)
    }

    @Test(arguments: [
        ("service:\n\tlisten: x\n", 2, "a tab"), ("a: *nowhere\n", 1, "an alias"),
        ("# a\n%YAML 1.2\n---\na: 1\n", 2, "a directive"), ("a:\n  b: |\n    c\n", 2, "a block scalar"),
    ])
    func `unsupported YAML features are rejected`(yaml: String, line: Int, what: String) throws {
        let fault = try fault(yaml)
        #expect(fault.message.hasPrefix("\(what) can't be used"), "\(fault.message)")
        #expect(fault.line == line)
    }

    @Test(arguments: ["[]", "text", "5", "- a\n- b\n"])
    func `a section that is not a mapping is rejected`(yaml: String) throws {
        let fault = try fault(yaml)
        #expect(fault.line == 1)
        #expect(fault.message.hasPrefix("found "))
    }

    @Test(arguments: ["", "\n", "# nothing\n", "---\n", "~", "providers:\n", "providers: []\n", "clock_skew: 5s\n"])
    func `settings without a provider are refused`(yaml: String) throws {
        #expect(try fault(yaml).message == "at least one provider is needed under providers")
    }

    @Test func `a second document is not passed over`() throws {
        _ = try fault(provider + "---\nclock_skew: 5s\n")
    }

    @Test func `a key that is not a word is rejected`() throws {
        #expect(try fault("[a, b]: c\n" + provider).message == "a key must be a plain word")
        #expect(try fault("? { a: b }\n: c\n" + provider).message == "a key must be a plain word")
    }

    @Test func `aliases that would grow without end are not written out`() throws {
        var yaml = "a0: &a0 [x]\n"
        for depth in 1...30 {
            yaml += "a\(depth): &a\(depth) [\(Array(repeating: "*a\(depth - 1)", count: 9).joined(separator: ","))]\n"
        }
        #expect(try fault(yaml + provider).line == 1)
    }

    // MARK: Almost valid values

    @Test(arguments: [
        "", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+8080",
        "127.0.0.1:0x50",
        "127.0.0.1:80 ", "::1:8080", "[::1]", "[]:80", "[::1:80", "unix:", "unix:run/a", "http://127.0.0.1:80",
    ])
    func `a place to listen is written in one way`(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test func `a Unix socket's path must fit what the kernel takes`() {
        let path = "/" + String(repeating: "a", count: 106)
        #expect(ListenAddress("unix:" + path) == .unixSocket(path: path))
        #expect(ListenAddress("unix:" + path + "a") == nil)
    }

    @Test(arguments: [
        "60", "60 s", "s", "-1s", "+1s", "1.5s", "1S", "1sec", "1w", "1m30s", "0x10s", "1_0s", "１s", "\"60s \"",
        "' 60s'", "inf",
        "99999999999999999999s", "9223372036854775807d",
    ])
    func `a duration is digits and one unit`(text: String) throws {
        #expect(try fault("clock_skew: \(text)\n" + provider).line == 1)
    }

    @Test(arguments: [
        "64kib", "64KB", "64K", "64 KiB", "-64KiB", "1.5MiB", "1GiB", "KiB", "64KiBs", "1023", "17MiB",
        "9223372036854775807MiB",
    ])
    func `a size is digits and one unit, within bounds`(text: String) throws {
        #expect(try fault("limits: { max_body: \(text) }\n" + provider).line == 1)
    }

    @Test(arguments: [
        ("max_connections", "0"), ("max_connections", "1000001"), ("max_in_flight", "0"), ("max_in_flight", "1e3"),
        ("max_connections", "1_000"), ("max_connections", "0x10"), ("max_connections", "1.0"),
        ("request_timeout", "0s"),
        ("request_timeout", "301s"), ("keys_timeout", "0s"), ("keys_timeout", "61s"), ("max_batch_body", "65MiB"),
        ("queue_timeout", "49ms"), ("queue_timeout", "61s"), ("queue_timeout", "1h"), ("queue_timeout", "500"),
        ("max_header", "1023"), ("max_buffered", "65535"), ("max_buffered", "17000MiB"), ("max_header", "1025KiB"),
    ])
    func `every limit has bounds`(name: String, value: String) throws {
        let fault = try fault("limits:\n  \(name): \(value)\n" + provider)
        #expect(fault.line == 2)
        #expect(fault.message.hasPrefix(name))
    }

    @Test(arguments: [
        "", "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7a",
        "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7aef",
        "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ag",
        "+c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        "0x26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", "my-secret-api-key",
    ])
    func `an API key's digest is 64 hexadecimal digits, and never repeated in the error`(text: String) throws {
        let fault = try fault("api_keys:\n  - \"\(text)\"\n" + provider)
        #expect(fault.line == 2)
        let found = text.isEmpty ? "an empty string" : "a string of \(text.count) characters"
        #expect(
            fault.message == "each of api_keys must be a SHA-256 digest in 64 hexadecimal digits; found \(found)")
    }

    /// What a script makes if its variable is not set.
    @Test(arguments: [
        ("", "key-1"), ("name: ci, sha256: ", "ci"),
    ])
    func `the digest of the empty key is refused`(before: String, name: String) throws {
        let digest = "E3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        let key = before.isEmpty ? digest : "{ \(before)\(digest) }"
        let expected =
            "\(name) in api_keys is the digest of an empty key; was the variable with the key unset? Create a key with assay api-key"
        #expect(try fault("api_keys:\n  - \(key)\n" + provider).message == expected)
        #expect(try fault("admin:\n  api_keys:\n    - \(key)\n" + provider).message == expected)
        #expect(try fault(provider, ["ASSAY_API_KEYS": digest]).message.contains("key-1 in api_keys is the digest"))
    }

    @Test func `an API key's digest may be in capitals`() throws {
        let digest = "2C26B46B68FFC68FF99B453C1D30413413422D706483BFA0F98A5E886266E7AE"
        #expect(
            try settings("api_keys: [\(digest)]\n" + provider).apiKeys.map(\.digest)
                == settings("api_keys: [\(digest.lowercased())]\n" + provider).apiKeys.map(\.digest))
    }

    @Test(arguments: [
        "id: ''", "id: [a]", "issuer: https://a.example", "id:", "id: a b", "id: a/b", "id: ümlaut", "id: \"a\\nb\"",
        "id: " + String(repeating: "a", count: 65),
    ])
    func `a provider id has only plain characters`(line: String) throws {
        let fault = try fault("providers:\n  - preset: apple\n    audiences: [a]\n    \(line)\n")
        #expect(fault.line == 2)
        #expect(fault.message.hasPrefix("each provider needs an id: 1 to 64 letters"))
    }

    @Test func `without one, what else is wrong with it is told all the same`() throws {
        let faults = try faults("providers:\n  - preset: aple\n    audience: a\n")
        #expect(faults.count == 3)
        #expect(faults.contains { $0.message.hasSuffix("did you mean apple?") })
        #expect(faults.contains { $0.message.contains("did you mean audiences?") })
    }

    @Test(arguments: ["providers: apple\n", "providers: { id: apple }\n"])
    func `providers are a list`(yaml: String) throws {
        #expect(try fault(yaml).message.hasPrefix("providers must be a list; found "))
    }

    @Test func `a provider that is not a mapping is rejected`() throws {
        #expect(try fault("providers:\n  - apple\n").line == 2)
    }

    // MARK: Several providers

    private static func two(_ second: String) -> String { provider + "  - " + second + "\n" }

    @Test(arguments: [
        ("{ id: apple, preset: google, audiences: [b] }", "duplicate provider id apple; rename one"),
        ("{ id: b, preset: apple, audiences: [b] }", "providers apple and b have the same issuer or alias"),
        (
            "{ id: b, issuer: https://b.example, issuer_aliases: ['https://appleid.apple.com'], audiences: [b] }",
            "providers apple and b have the same issuer or alias"
        ),
    ])
    func `providers must differ in id and issuers, and the fault names the second`(second: String, message: String)
        throws
    {
        let fault = try fault(Self.two(second))
        #expect(fault.line == 5)
        #expect(fault.message.hasPrefix(message), "\(fault.message)")
    }

    @Test(arguments: ["Apple", "APPLE"])
    func `providers must differ in the names of their environment variables`(id: String) throws {
        let fault = try fault(Self.two("{ id: \(id), preset: google, audiences: [b] }"))
        #expect(fault.line == 5)
        #expect(fault.message == "provider ids \(id) and apple map to the same environment variables; rename one")
        #expect(throws: SettingsError.self) {
            try settings(
                """
                providers:
                  - { id: a.b, issuer: "https://a.example", audiences: [a] }
                  - { id: a-b, issuer: "https://b.example", audiences: [b] }
                """)
        }
    }

    @Test(arguments: ["api_keys:\n", "api_keys: ~\n", "api_keys: null\n"])
    func `a list without a value is rejected, because it could disable a check`(yaml: String) throws {
        let fault = try fault(yaml + provider)
        #expect(fault.line == 1)
        #expect(fault.message == "api_keys must be a list; found null")
    }

    @Test func `an alias may not be the issuer of a provider further down`() throws {
        let yaml = """
            providers:
              - { id: a, issuer: https://a.example, issuer_aliases: [https://b.example], audiences: [a] }
              - { id: b, issuer: https://b.example, audiences: [b] }
            """
        #expect(try fault(yaml).line == 3)
    }

    @Test func `issuers that differ in a slash or in case are two`() throws {
        #expect(
            try settings(
                Self.two(
                    "{ id: b, issuer: 'https://other.example/', audiences: [b] }\n  - { id: c, issuer: 'https://other.example', audiences: [c] }"
                )
            ).providers.count
                == 3)
        #expect(
            try settings(Self.two("{ id: b, issuer: 'https://APPLEID.apple.com', audiences: [b] }")).providers.count
                == 2)
    }

    @Test(arguments: ["~", "null"])
    func `a null in a list is not a string`(element: String) throws {
        #expect(try fault("providers:\n  - { id: a, preset: apple, audiences: [\(element)] }\n").line == 2)
    }
}
