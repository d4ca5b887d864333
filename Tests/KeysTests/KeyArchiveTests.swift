import Foundation
import HTTP
import JOSE
import Keys
import Testing
import TestSupport

/// A temporary directory with an archive.
struct TemporaryDirectory: Sendable {
    let path: String
    var file: String { path + "/p.keys" }

    static func run(_ body: (TemporaryDirectory) async throws -> Void) async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "assay-archive-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        try await body(TemporaryDirectory(path: url.path))
    }

    func archive(
        provider: String = "p", issuer: String = "https://p.example", location: String = "https://p.example/keys",
        staleIfError: Interval = .seconds(3600)
    ) -> KeyArchive {
        KeyArchive(directory: path, provider: provider, issuer: issuer, location: location, staleIfError: staleIfError)
    }

    func read() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

    /// Writes a file that only this user may write to.
    func write(_ text: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }
}

extension FetchedKeys {
    /// The same keys, fetched at another time.
    func fetched(at unixSeconds: Int64) -> FetchedKeys {
        FetchedKeys(
            keys: keys, text: text, algorithms: algorithms, source: source, lifetime: lifetime,
            fetchedAtUnixSeconds: unixSeconds)
    }
}

@Suite struct KeyArchiveTests {
    private static let now: Int64 = 1_700_000_000
    private static let keys = KeySets.fetched(["a", "b"]).fetched(at: now)

    /// An archive with ``keys``, a lifetime of 600 seconds, and stale use for an hour.
    private func withArchive(_ body: (TemporaryDirectory, KeyArchive) async throws -> Void) async throws {
        try await TemporaryDirectory.run { directory async throws in
            let archive = directory.archive()
            #expect(archive.save(Self.keys, lifetime: .seconds(600)))
            try await body(directory, archive)
        }
    }

    private func refusal(_ archive: KeyArchive, at now: Int64 = now) -> String? {
        let refusal = #expect(throws: KeyArchive.Refusal.self) { try archive.load(nowUnixSeconds: now) }
        return refusal?.reason
    }

    @Test func `what is kept is found again`() async throws {
        try await withArchive { directory, archive async throws in
            let restored = try #require(try archive.load(nowUnixSeconds: Self.now + 60))
            #expect(restored.age == .seconds(60))
            #expect(restored.keys.keys.keys.map(\.keyID) == ["a", "b"])
            #expect(restored.keys.keys.fingerprint == Self.keys.keys.fingerprint)
            #expect(restored.keys.algorithms == [.es256, .rs256])
            #expect(restored.keys.source == .disk)
            #expect(restored.keys.lifetime == .seconds(600))
            #expect(restored.keys.fetchedAtUnixSeconds == Self.now)
        }
    }

    @Test func `keys that the answer had left out are kept behind it, and told apart again`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            let archive = directory.archive()
            let omitted = KeySets.fetched([
                KeySets.key("c", .rsa),
                TestKey.otherP256.jwk(["kid": nil, "alg": .string("ES256"), "x": .string("AA")]),
            ])
            #expect(archive.save(Self.keys, omitted: omitted.keys.keys, lifetime: .seconds(600)))
            let restored = try #require(try archive.load(nowUnixSeconds: Self.now))
            #expect(restored.keys.keys.fingerprint == Self.keys.keys.fingerprint)
            #expect(restored.keys.keys.keys.map(\.keyID) == ["a", "b"])
            #expect(restored.keys.source == .disk)
            #expect(restored.omitted.map(\.keyID) == ["c", nil])
            #expect(restored.omitted.map(\.thumbprint) == omitted.keys.keys.map(\.thumbprint))
            #expect(restored.omitted.map(\.isUsable) == [true, false])
            // Restored keys can be saved again unchanged.
            #expect(archive.save(restored.keys, omitted: restored.omitted, lifetime: .seconds(600)))
            let again = try #require(try archive.load(nowUnixSeconds: Self.now))
            #expect(again.keys.keys.fingerprint == restored.keys.keys.fingerprint)
            #expect(again.omitted.map(\.keyID) == ["c", nil])
        }
    }

    @Test func `where nothing was left out the set is kept as it came`() async throws {
        try await withArchive { _, archive async throws in
            let restored = try #require(try archive.load(nowUnixSeconds: Self.now))
            #expect(restored.omitted.isEmpty)
            #expect(restored.keys.keys.json == Self.keys.keys.json)
        }
    }

    @Test func `only its owner may read the file, and nothing else is left behind`() async throws {
        try await withArchive { directory, archive async throws in
            #expect(archive.save(Self.keys, lifetime: .seconds(600)))
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["p.keys"])
            let mode = try FileManager.default.attributesOfItem(atPath: directory.file)[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
    }

    @Test func `a newer set takes the place of the one before, also over a file left half written`() async throws {
        try await withArchive { directory, archive async throws in
            try Data("half".utf8).write(to: URL(filePath: directory.file + ".new"))
            #expect(archive.save(KeySets.fetched(["c"]).fetched(at: Self.now + 10), lifetime: .seconds(600)))
            let restored = try #require(try archive.load(nowUnixSeconds: Self.now + 10))
            #expect(restored.keys.keys.keys.map(\.keyID) == ["c"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["p.keys"])
        }
    }

    @Test func `where nothing was kept nothing is found`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            #expect(try directory.archive().load(nowUnixSeconds: Self.now) == nil)
        }
    }

    @Test(
        arguments: [
            (-301, "it is from the future"), (-300, nil), (0, nil), (600 + 3600, nil), (600 + 3601, "it is too old"),
        ] as [(Int64, String?)])
    func `a file has its time`(age: Int64, reason: String?) async throws {
        try await withArchive { _, archive async throws in
            if let reason {
                #expect(refusal(archive, at: Self.now + age) == reason)
            } else {
                #expect(try archive.load(nowUnixSeconds: Self.now + age)?.age == .seconds(max(age, 0)))
            }
        }
    }

    @Test func `a file of another issuer, address or provider is not this one's`() async throws {
        try await withArchive { directory, _ async throws in
            #expect(
                refusal(directory.archive(issuer: "https://q.example")) == "it belongs to another issuer or address")
            #expect(
                refusal(directory.archive(location: "https://p.example/other"))
                    == "it belongs to another issuer or address")
            try FileManager.default.copyItem(atPath: directory.file, toPath: directory.path + "/q.keys")
            #expect(refusal(directory.archive(provider: "q")) == "it belongs to another issuer or address")
        }
    }

    @Test func `a file with any bit turned over is refused`() async throws {
        try await withArchive { directory, archive async throws in
            let bytes = Array(try directory.read().utf8)
            for position in stride(from: 0, to: bytes.count, by: 7) {
                var damaged = bytes
                damaged[position] ^= 1
                try Data(damaged).write(to: URL(filePath: directory.file))
                #expect(throws: KeyArchive.Refusal.self, "position \(position)") {
                    try archive.load(nowUnixSeconds: Self.now)
                }
            }
        }
    }

    @Test(arguments: ["", "\n", "assay-keys-1", "assay-keys-1 \n", "{}", "assay-keys-1 x\n{}"])
    func `a file that is something else is refused`(text: String) async throws {
        try await withArchive { directory, archive async throws in
            try directory.write(text)
            #expect(refusal(archive) != nil)
        }
    }

    @Test func `a file cut short or made longer is refused`() async throws {
        try await withArchive { directory, archive async throws in
            let text = try directory.read()
            try directory.write(String(text.dropLast()))
            #expect(refusal(archive) == "its checksum is wrong")
            try directory.write(text + " ")
            #expect(refusal(archive) == "its checksum is wrong")
            try directory.write(text + String(repeating: " ", count: 4 * 1024 * 1024))
            #expect(refusal(archive) == "it is too large")
        }
    }

    @Test(arguments: [(0o620, false), (0o602, false), (0o666, false), (0o644, true), (0o400, true)])
    func `a file that others could have written is not trusted`(mode: Int, isTrusted: Bool) async throws {
        try await withArchive { directory, archive async throws in
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory.file)
            if isTrusted {
                #expect(try archive.load(nowUnixSeconds: Self.now) != nil)
            } else {
                #expect(refusal(archive) == "other users could have written it")
            }
        }
    }

    @Test func `a link or a directory in the file's place is not followed`() async throws {
        try await withArchive { directory, archive async throws in
            try FileManager.default.moveItem(atPath: directory.file, toPath: directory.path + "/elsewhere")
            try FileManager.default.createSymbolicLink(
                atPath: directory.file, withDestinationPath: directory.path + "/elsewhere")
            #expect(refusal(archive) == "it can't be opened, or is a link")
            // Saving replaces the symbolic link, and leaves its target unchanged.
            let before = try Data(contentsOf: URL(filePath: directory.path + "/elsewhere"))
            #expect(archive.save(KeySets.fetched(["c"]).fetched(at: Self.now), lifetime: .seconds(600)))
            #expect(try Data(contentsOf: URL(filePath: directory.path + "/elsewhere")) == before)
            #expect(try archive.load(nowUnixSeconds: Self.now)?.keys.keys.hasKey("c") == true)
            try FileManager.default.removeItem(atPath: directory.file)
            try FileManager.default.createDirectory(atPath: directory.file, withIntermediateDirectories: false)
            #expect(refusal(archive) == "it is not a regular file")
            #expect(!archive.save(Self.keys, lifetime: .seconds(600)))
        }
    }

    @Test func `saving where there is no directory fails`() {
        let archive = KeyArchive(
            directory: "/nowhere/at/all", provider: "p", issuer: "i", location: "l", staleIfError: .seconds(60))
        #expect(!archive.save(Self.keys, lifetime: .seconds(600)))
    }
}
