import Glibc
@testable import HTTP
import NIOCore
import Testing

@Suite struct UnixSocketTests {
    private let path = "/tmp/assay-socket-test-\(UInt64.random(in: 0 ... .max)).sock"

    /// The result of connecting: 0 or an error number.
    private func connection() throws -> CInt {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        let address = try SocketAddress(unixDomainSocketPath: path)
        return unsafe address.withSockAddr { unsafe connect(descriptor, $0, socklen_t($1)) } == 0 ? 0 : errno
    }

    private func status() -> stat {
        var status = stat()
        unsafe lstat(path, &status)
        return status
    }

    @Test(arguments: [0o600, 0o660, 0o666, 0o700, 0o777] as [UInt32])
    func `its mode and group are there before anybody can connect`(mode: UInt32) throws {
        let group = String(getegid())
        let descriptor = try UnixSocket.bind(path: path, SocketPermissions(mode: mode, group: group))
        defer {
            close(descriptor)
            unsafe unlink(path)
        }
        #expect(status().st_mode & 0o7777 == mode)
        #expect(status().st_gid == getegid())
        #expect(try connection() == ECONNREFUSED)
        #expect(listen(descriptor, 1) == 0)
        #expect(try connection() == 0)
    }

    @Test func `a socket that cannot be what it should be leaves nothing behind`() throws {
        #expect(throws: UnknownGroup.self) {
            try UnixSocket.bind(path: path, SocketPermissions(group: "no such group"))
        }
        #expect(unsafe access(path, F_OK) != 0)
        #expect(throws: IOError.self) { try UnixSocket.bind(path: path + "/a/b", SocketPermissions()) }
    }

    @Test func `only a stale socket is replaced`() throws {
        let first = try UnixSocket.bind(path: path, SocketPermissions())
        defer { unsafe unlink(path) }
        #expect(listen(first, 1) == 0)
        let error = #expect(throws: IOError.self) { try UnixSocket.bind(path: path, SocketPermissions()) }
        #expect(error?.errnoCode == EADDRINUSE)
        close(first)
        #expect(try connection() == ECONNREFUSED)
        let second = try UnixSocket.bind(path: path, SocketPermissions())
        defer { close(second) }
        #expect(listen(second, 1) == 0)
        #expect(try connection() == 0)
    }

    @Test func `a path that is not a socket is left alone`() throws {
        let file = unsafe open(path, O_CREAT | O_WRONLY, 0o600)
        defer {
            close(file)
            unsafe unlink(path)
        }
        #expect(throws: NoSocket.self) { try UnixSocket.bind(path: path, SocketPermissions()) }
        #expect(status().st_mode & S_IFMT == S_IFREG)
    }
}
