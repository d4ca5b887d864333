import Foundation
import Glibc
import HTTP
import JOSE
import Keys
import NIOPosix
import Synchronization
import Testing
import TestSupport

@Suite struct FileKeyFetcherTests {
    private let clock = Clock()

    private final class Clock: Sendable {
        private let seconds = Mutex<Int64>(1_700_000_000)
        var now: Int64 { seconds.withLock { $0 } }
        func advance() { seconds.withLock { $0 += 1 } }
    }

    private func fetcher(_ path: String) -> FileKeyFetcher {
        // Long, because reading may be slow on a busy machine.
        FileKeyFetcher(
            path: path, loop: MultiThreadedEventLoopGroup.singleton.next(), timeout: .seconds(100),
            unixSeconds: { [clock] in clock.now })
    }

    /// The result of a fetch from a file with these bytes; `nil`: no file.
    private func fetch(_ bytes: [UInt8]?) async throws -> FetchedKeys {
        let file = FileManager.default.temporaryDirectory.appending(path: "assay-keys-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        if let bytes { try Data(bytes).write(to: file) }
        return try await fetcher(file.path).fetch(.reload)
    }

    private func failure(_ bytes: [UInt8]?) async -> FetchFailure? {
        await #expect(throws: FetchFailure.self) { try await fetch(bytes) }
    }

    @Test func `keys are read from a file`() async throws {
        let fetched = try await fetch(KeySets.json(["a"]))
        #expect(fetched.keys.hasKey("a"))
        #expect(fetched.text == KeySets.json(["a"]))
        #expect(fetched.source == .file)
        #expect(fetched.lifetime == nil)
        #expect(fetched.algorithms == .all)
        #expect(fetched.fetchedAtUnixSeconds == 1_700_000_000)
        #expect(!fetched.isNotModified)
    }

    @Test func `a file that is missing, too large or no key set is a failure with a reason`() async throws {
        #expect(await failure(nil) == FetchFailure(.file, "there is no such file"))
        let large = [UInt8](repeating: 0x20, count: 512 * 1024 + 1)
        #expect(await failure(large) == FetchFailure(.file, "the file is larger than 524288 bytes"))
        for bytes in [[], [0x7b], Array("{}".utf8), Array("<html>".utf8)] as [[UInt8]] {
            #expect(await failure(bytes)?.phase == .parse)
        }
        #expect(
            await failure(Array(#"{"keys":[]}"#.utf8))
                == FetchFailure(.parse, "the key set holds no key that can verify a signature: it is empty"))
        let padded = KeySets.json(["a"])
        #expect(try await fetch(padded + large.prefix(512 * 1024 - padded.count)).keys.hasKey("a"))
    }

    @Test func `a directory or a pipe in the file's place is refused, and holds nobody up`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            let refused = FetchFailure(.file, "it is not a regular file")
            let fromDirectory = await #expect(throws: FetchFailure.self) {
                try await fetcher(directory.path).fetch(.reload)
            }
            #expect(fromDirectory == refused)
            try #require(unsafe mkfifo(directory.file, 0o600) == 0)
            let fromPipe = await #expect(throws: FetchFailure.self) {
                try await fetcher(directory.file).fetch(.reload)
            }
            #expect(fromPipe == refused)
        }
    }

    // MARK: A changed file

    @Test func `a file that has changed is read again, in either mode`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            let fetcher = fetcher(directory.file)
            for (mode, keyIDs) in [(FetchMode.revalidate, ["a"]), (.revalidate, ["a", "b"]), (.reload, ["c"])] {
                try directory.write(text(KeySets.json(keyIDs)))
                let fetched = try await fetcher.fetch(mode)
                #expect(fetched.keys.keys.map(\.keyID) == keyIDs)
                #expect(fetched.text == KeySets.json(keyIDs))
            }
        }
    }

    @Test func `a file that has not changed has the keys that it had, of now`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            let fetcher = fetcher(directory.file)
            try directory.write(text(KeySets.json(["a"])))
            let first = try await fetcher.fetch(.revalidate)
            clock.advance()
            for mode in [FetchMode.revalidate, .reload, .revalidate] {
                let fetched = try await fetcher.fetch(mode)
                #expect(fetched.keys.fingerprint == first.keys.fingerprint)
                #expect(fetched.fetchedAtUnixSeconds == 1_700_000_001)
                #expect(!fetched.isNotModified)
            }
        }
    }

    @Test func `a file that is written over with as many bytes, and its time set back, is read again`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            let fetcher = fetcher(directory.file)
            try directory.write(text(KeySets.json(["a"])))
            setTime(of: directory.file)
            #expect(try await fetcher.fetch(.revalidate).keys.hasKey("a"))
            for keyID in ["b", "c", "d"] {
                let handle = try FileHandle(forWritingTo: URL(filePath: directory.file))
                try handle.write(contentsOf: KeySets.json([keyID]))
                try handle.close()
                setTime(of: directory.file)
                #expect(try await fetcher.fetch(.revalidate).keys.hasKey(keyID))
            }
        }
    }

    @Test func `a file that has gone bad is a failure each time, and good once it is good`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            let fetcher = fetcher(directory.file)
            try directory.write(text(KeySets.json(["a"])))
            _ = try await fetcher.fetch(.revalidate)
            try directory.write("{")
            for _ in 0..<3 {
                let failure = await #expect(throws: FetchFailure.self) { try await fetcher.fetch(.revalidate) }
                #expect(failure?.phase == .parse)
            }
            try FileManager.default.removeItem(atPath: directory.file)
            let failure = await #expect(throws: FetchFailure.self) { try await fetcher.fetch(.revalidate) }
            #expect(failure == FetchFailure(.file, "there is no such file"))
            try directory.write(text(KeySets.json(["b"])))
            #expect(try await fetcher.fetch(.revalidate).keys.hasKey("b"))
        }
    }

    /// How Kubernetes updates a volume: it atomically replaces the symbolic link to the directory.
    @Test func `a link on the way to the file that leads elsewhere is seen`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            let files = FileManager.default
            for keyID in ["a", "b"] {
                let folder = directory.path + "/" + keyID
                try files.createDirectory(atPath: folder, withIntermediateDirectories: false)
                try Data(KeySets.json([keyID])).write(to: URL(filePath: folder + "/keys.json"))
                setTime(of: folder + "/keys.json")
            }
            let data = directory.path + "/..data"
            try files.createSymbolicLink(atPath: data, withDestinationPath: "a")
            try files.createSymbolicLink(atPath: directory.file, withDestinationPath: "..data/keys.json")
            let fetcher = fetcher(directory.file)
            #expect(try await fetcher.fetch(.revalidate).keys.hasKey("a"))
            for keyID in ["b", "a", "b"] {
                try files.createSymbolicLink(atPath: data + ".new", withDestinationPath: keyID)
                try #require(unsafe rename(data + ".new", data) == 0)
                #expect(try await fetcher.fetch(.revalidate).keys.hasKey(keyID))
            }
        }
    }

    /// Sets the modification time of all files to the same value.
    private func setTime(of path: String) {
        let time = timespec(tv_sec: 1_000_000_000, tv_nsec: 5)
        #expect(unsafe utimensat(AT_FDCWD, path, [time, time], 0) == 0)
    }
}
