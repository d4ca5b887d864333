import Foundation
import HTTP
import Testing

/// What the command line says of exposed files is tested over the command line, with links and mounts.
@Suite struct FileExposureTests {
    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "assay-exposure-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    private func setMode(_ mode: mode_t, of path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: Int(mode)], ofItemAtPath: path)
    }

    private func file(_ mode: mode_t, group: gid_t? = nil) throws -> String {
        let file = directory.appending(path: "file-\(UUID().uuidString)").path
        _ = FileManager.default.createFile(atPath: file, contents: Data("x".utf8))
        if let group {
            try FileManager.default.setAttributes([.groupOwnerAccountID: Int(group)], ofItemAtPath: file)
        }
        try setMode(mode, of: file)
        return file
    }

    @Test(
        arguments: [
            (0o600, true, []), (0o400, true, []), (0o640, true, []), (0o440, true, []), (0o644, false, []),
            (0o644, true, [.readable(mode: 0o644)]), (0o604, true, [.readable(mode: 0o604)]),
            (0o660, true, [.writable(mode: 0o660)]), (0o664, false, [.writable(mode: 0o664)]),
            (0o602, false, [.writable(mode: 0o602)]),
            (0o666, true, [.readable(mode: 0o666), .writable(mode: 0o666)]), (0o666, false, [.writable(mode: 0o666)]),
        ] as [(mode_t, Bool, [FileExposure])])
    func `others may read no secret, and write nothing`(mode: mode_t, isSecret: Bool, exposures: [FileExposure]) throws
    {
        let file = try file(mode)
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(FileExposure.of(file, isSecret: isSecret) == exposures)
    }

    @Test(.enabled(if: geteuid() == 0, "only root may give a file to another group"))
    func `another group is others`() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let secret = try file(0o440, group: 54321)
        #expect(FileExposure.of(secret, isSecret: true) == [.readable(mode: 0o440)])
        #expect(FileExposure.of(secret, isSecret: false) == [])
    }

    @Test(arguments: [(0o777, true), (0o1777, false), (0o755, false), (0o702, true)] as [(mode_t, Bool)])
    func `whoever can write to a directory can replace its files, unless it is sticky`(
        mode: mode_t, isExposed: Bool
    ) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = try file(0o600)
        try setMode(mode, of: directory.path)
        let exposures = isExposed ? [FileExposure.replaceable(directory: directory.path, mode: mode)] : []
        #expect(FileExposure.of(file, isSecret: true) == exposures)
    }

    /// `first` leads to `middle/second`, which leads to the file: as `..data` in the mounts of Kubernetes.
    @Test(arguments: ["first", "./first"])
    func `whoever can write beside a link on the way can make it lead elsewhere`(path: String) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = try file(0o600)
        let middle = directory.appending(path: "middle").path
        try FileManager.default.createDirectory(atPath: middle, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: middle + "/second", withDestinationPath: file)
        try FileManager.default.createSymbolicLink(
            atPath: directory.appending(path: "first").path, withDestinationPath: "middle/second")
        try setMode(0o777, of: middle)
        #expect(
            FileExposure.of(directory.path + "/" + path, isSecret: true)
                == [.replaceable(directory: middle, mode: 0o777)])
    }

    @Test func `links that lead in a circle lead to no file`() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let link = directory.appending(path: "circle").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "circle")
        #expect(FileExposure.of(link, isSecret: true) == [])
    }

    @Test func `what is not there, or no regular file, has no exposure`() {
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(FileExposure.of(directory.appending(path: "absent").path, isSecret: true) == [])
        #expect(FileExposure.of(directory.path, isSecret: true) == [])
        #expect(FileExposure.of("/dev/null", isSecret: true) == [])
    }
}
