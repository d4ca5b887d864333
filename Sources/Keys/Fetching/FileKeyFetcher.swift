package import HTTP
private import JOSE
package import NIOCore
private import Synchronization

/// Reads a JWK Set from a file, and only if the file has changed.
package final class FileKeyFetcher: KeyFetching {
    private let path: String
    private let loop: any EventLoop
    private let timeout: Interval
    private let unixSeconds: @Sendable () -> Int64
    private let last = Mutex<Reading?>(nil)
    private static let maximumSize = 512 * 1024
    private static let readings = BlockingCalls<ObjectIdentifier, Result<Reading, FetchFailure>>(threads: 2)

    private struct Reading {
        let version: SmallFile.Version
        let keys: JWKSet
        let text: [UInt8]
    }

    /// - Parameter timeout: for reading the file.
    package init(
        path: String, loop: any EventLoop, timeout: Interval = .seconds(5),
        unixSeconds: @escaping @Sendable () -> Int64
    ) {
        self.path = path
        self.loop = loop
        self.timeout = timeout
        self.unixSeconds = unixSeconds
    }

    package func fetch(_ mode: FetchMode, keyIDs: [String]) async throws(FetchFailure) -> FetchedKeys {
        let failure = FetchFailure(.file, "the file was not read within \(timeout.secondsRoundedUp) s")
        let reading = try await loop.withTimeout(timeout, orThrow: failure) { () async throws(FetchFailure) in
            let outcome = try? await Self.readings.run(for: ObjectIdentifier(self)) {
                Result { () throws(FetchFailure) in try self.read(mode) }
            }
            return try (outcome ?? .failure(failure)).get()
        }
        return FetchedKeys(
            keys: reading.keys, text: reading.text, algorithms: .all, source: .file, lifetime: nil,
            fetchedAtUnixSeconds: unixSeconds())
    }

    private func read(_ mode: FetchMode) throws(FetchFailure) -> Reading {
        // Symbolic links are followed: Kubernetes mounts files as links, and updates them by replacing the link.
        if mode == .revalidate, let last = last.withLock({ $0 }), SmallFile.version(atPath: path) == last.version {
            return last
        }
        let file: SmallFile
        do throws(SmallFile.Failure) {
            file = try SmallFile(path: path, maximumSize: Self.maximumSize, followingLinks: true)
        } catch {
            throw FetchFailure(.file, error.text(maximumSize: Self.maximumSize))
        }
        let reading = Reading(version: file.version, keys: try JWKSet(reading: file.bytes), text: file.bytes)
        last.withLock { $0 = reading }
        return reading
    }
}
