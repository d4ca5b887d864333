private import FoundationEssentials
private import JOSE
package import NIOPosix

/// Reads a JWK Set from a file.
package struct FileKeyFetcher: KeyFetching {
    private let path: String
    private let threads: NIOThreadPool
    private let unixSeconds: @Sendable () -> Int64
    private static let maximumSize = 512 * 1024

    package init(path: String, threads: NIOThreadPool, unixSeconds: @escaping @Sendable () -> Int64) {
        self.path = path
        self.threads = threads
        self.unixSeconds = unixSeconds
    }

    package func fetch() async throws(FetchFailure) -> FetchedKeys {
        let bytes: [UInt8]
        do {
            bytes = try await threads.runIfActive { [path] in Array(try Data(contentsOf: URL(filePath: path))) }
        } catch {
            throw FetchFailure(.file, "the file can't be read")
        }
        guard bytes.count <= Self.maximumSize else {
            throw FetchFailure(.file, "the file is larger than \(Self.maximumSize) bytes")
        }
        return FetchedKeys(
            keys: try JWKSet(reading: bytes), text: bytes, algorithms: SignatureAlgorithm.all, source: .file,
            lifetime: nil, fetchedAtUnixSeconds: unixSeconds())
    }
}
