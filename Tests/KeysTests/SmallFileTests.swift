import Foundation
import Glibc
import HTTP
import Testing

@Suite struct SmallFileTests {
    private func read(_ path: String, maximumSize: Int = 100, followingLinks: Bool = true) -> Result<
        [UInt8], SmallFile.Failure
    > {
        do throws(SmallFile.Failure) {
            return .success(
                try SmallFile(path: path, maximumSize: maximumSize, followingLinks: followingLinks).bytes)
        } catch {
            return .failure(error)
        }
    }

    @Test func `a file is read whole, up to the limit`() async throws {
        try await TemporaryDirectory.run { directory in
            try directory.write("12345")
            for limit in [5, 6, 1 << 40] {
                #expect(read(directory.file, maximumSize: limit) == .success(Array("12345".utf8)))
            }
            #expect(read(directory.file, maximumSize: 4) == .failure(.tooLarge))
            try directory.write("")
            #expect(read(directory.file, maximumSize: 0) == .success([]))
        }
    }

    @Test func `its owner and mode are told`() async throws {
        try await TemporaryDirectory.run { directory in
            try directory.write("x", mode: 0o640)
            let file = try SmallFile(path: directory.file, maximumSize: 1, followingLinks: false)
            #expect(file.owner == geteuid())
            #expect(file.mode & 0o777 == 0o640)
        }
    }

    @Test func `where there is none, there is none`() async throws {
        try await TemporaryDirectory.run { directory in
            #expect(read(directory.file) == .failure(.notThere))
            #expect(read(directory.path + "/a/b") == .failure(.notThere))
            #expect(SmallFile.version(atPath: directory.file) == nil)
            // A dangling symbolic link.
            try FileManager.default.createSymbolicLink(atPath: directory.file, withDestinationPath: "elsewhere")
            #expect(read(directory.file) == .failure(.notThere))
            #expect(SmallFile.version(atPath: directory.file) == nil)
        }
    }

    @Test func `a file that can't be read is said to need this user's permission`() {
        let text = SmallFile.Failure.notOpened(EACCES).text(maximumSize: 1)
        #expect(text.contains("Permission denied; let user \(geteuid()) read it"))
        #expect(SmallFile.Failure.notOpened(ENOTDIR).text(maximumSize: 1).hasSuffix("Not a directory"))
    }

    @Test func `a link is followed where it may be`() async throws {
        try await TemporaryDirectory.run { directory in
            try directory.write("x")
            let link = directory.path + "/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.file)
            #expect(read(link) == .success(Array("x".utf8)))
            #expect(read(link, followingLinks: false) == .failure(.notOpened(ELOOP)))
            // Symbolic links in the path are followed.
            let folder = directory.path + "/folder"
            try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: directory.path)
            #expect(read(folder + "/p.keys", followingLinks: false) == .success(Array("x".utf8)))
        }
    }

    @Test func `a secret may be behind a link, as those of the kubelet are`() async throws {
        try await TemporaryDirectory.run { directory in
            try directory.write("secret")
            let link = directory.path + "/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.file)
            let secret = try SmallFile.withSecret(path: link, maximumSize: 6) { octets, _ in
                octets.indices.map { octets[$0] }
            }
            #expect(secret == Array("secret".utf8))
        }
    }

    @Test func `a directory, a pipe, a device or a socket is no file, and holds nobody up`() async throws {
        try await TemporaryDirectory.run { directory in
            #expect(read(directory.path) == .failure(.notRegular))
            #expect(read("/dev/null") == .failure(.notRegular))
            // Opening a pipe without a writer would block.
            try #require(unsafe mkfifo(directory.file, 0o600) == 0)
            #expect(read(directory.file) == .failure(.notRegular))
            #expect(read(directory.file, followingLinks: false) == .failure(.notRegular))
            #expect(read(directory.file + "/x") == .failure(.notOpened(ENOTDIR)))
        }
    }

    @Test func `a loop of links is no file`() async throws {
        try await TemporaryDirectory.run { directory in
            try FileManager.default.createSymbolicLink(atPath: directory.file, withDestinationPath: directory.file)
            #expect(read(directory.file) == .failure(.notOpened(ELOOP)))
        }
    }

    // MARK: Versions

    @Test func `a file that is left alone keeps its version`() async throws {
        try await TemporaryDirectory.run { directory in
            try directory.write("12345")
            let file = try SmallFile(path: directory.file, maximumSize: 10, followingLinks: true)
            #expect(SmallFile.version(atPath: directory.file) == file.version)
            _ = read(directory.file)
            #expect(SmallFile.version(atPath: directory.file) == file.version)
        }
    }

    @Test func `it has another once it is written to, or another file has its name`() async throws {
        try await TemporaryDirectory.run { directory in
            try directory.write("12345")
            var versions = [try #require(SmallFile.version(atPath: directory.file))]
            func expectAnother(sourceLocation: SourceLocation = #_sourceLocation) throws {
                let version = try #require(SmallFile.version(atPath: directory.file))
                #expect(!versions.contains(version), sourceLocation: sourceLocation)
                versions.append(version)
            }
            // A different size.
            try Data("123456".utf8).write(to: URL(filePath: directory.file))
            try expectAnother()
            // The same size, with the modification time restored.
            for text in ["123457", "123458"] {
                let handle = try FileHandle(forWritingTo: URL(filePath: directory.file))
                try handle.write(contentsOf: Data(text.utf8))
                try handle.close()
                let time = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
                #expect(unsafe utimensat(AT_FDCWD, directory.file, [time, time], 0) == 0)
                try expectAnother()
            }
            // Another file of the same size.
            try Data("654321".utf8).write(to: URL(filePath: directory.file + ".new"))
            try #require(unsafe rename(directory.file + ".new", directory.file) == 0)
            try expectAnother()
        }
    }
}
