private import Bytes
private import Glibc
package import HTTP
package import JOSE
internal import NIOCore
private import OpenSSL
private import Synchronization

/// A provider's last good key set on disk, so that a restart during an outage can still verify.
///
/// One file per provider: a line with a format name and the SHA-256 of the rest, then a JSON object. A file is rejected
/// if it is damaged, too old, from the future, of another provider, or if another user could have written it.
package struct KeyArchive: Sendable {
    private let path: String
    private let directory: String
    private let provider: String
    private let issuer: String
    private let location: String
    private let staleIfErrorSeconds: Int64
    /// Limits the number of files; `nil`: there is one for each configured provider.
    private let folder: IssuerFolder?

    /// The restored keys with their age.
    package struct Restored: Sendable {
        package let keys: FetchedKeys
        /// Keys that the provider's last response omitted and that were still in use.
        package let omitted: [JWK]
        package let age: Interval
    }

    /// Why a file was rejected. The text comes from this code, not from the file.
    package struct Refusal: Error, Sendable, Equatable {
        package let reason: String
    }

    private static let format = "assay-keys-2"
    /// Files without endpoints, which earlier versions wrote.
    private static let formerFormat = "assay-keys-1"
    /// Twice the largest key set, plus the overhead of JSON within JSON.
    private static let maximumSize = 4 * 1024 * 1024
    /// Far below the values at which arithmetic would overflow.
    private static let sensibleSeconds: ClosedRange<Int64> = 0...(1 << 40)
    /// The wall clock may have been set back a little since the file was written.
    private static let clockTolerance: Int64 = 300

    /// - Parameters:
    ///   - location: the source of the keys; a file from another source is rejected.
    ///   - staleIfError: how long keys may be used after their lifetime.
    package init(directory: String, provider: String, issuer: String, location: String, staleIfError: Interval) {
        self.directory = directory
        path = directory + "/" + provider + ".keys"
        folder = nil
        self.provider = provider
        self.issuer = issuer
        self.location = location
        staleIfErrorSeconds = staleIfError.secondsRoundedUp
    }

    /// The archive of one issuer of an entry with many.
    package init(in folder: IssuerFolder, issuer: String, location: String, staleIfError: Interval) {
        directory = folder.path
        path = folder.path + "/" + folder.name(of: issuer)
        provider = folder.entry
        self.issuer = issuer
        self.location = location
        staleIfErrorSeconds = staleIfError.secondsRoundedUp
        self.folder = folder
    }

    // MARK: Reading

    /// Reads the file; `nil` if there is none.
    ///
    /// - Throws: ``Refusal`` for a file that can't be trusted.
    package func load(nowUnixSeconds now: Int64) throws(Refusal) -> Restored? {
        guard let bytes = try readFile() else { return nil }
        guard let lineEnd = bytes.firstIndex(of: UInt8(ascii: "\n")) else { throw Refusal(reason: "it is damaged") }
        let content = Array(bytes[(lineEnd + 1)...])
        guard
            [Self.format, Self.formerFormat].contains(where: { Array(bytes[..<lineEnd]) == header($0, for: content) })
        else { throw Refusal(reason: "its checksum is wrong") }
        guard let members = (try? JSONTree(readingObject: content))?.object,
            let fetchedAt = members["fetched_at"]?.integer, Self.sensibleSeconds.contains(fetchedAt),
            let lifetime = members["lifetime"]?.integer, Self.sensibleSeconds.contains(lifetime),
            let set = members["jwks"]?.string,
            let listed = members["algorithms"]?.array
        else { throw Refusal(reason: "it is damaged") }
        guard members["provider"] == .string(provider), members["issuer"] == .string(issuer),
            members["location"] == .string(location)
        else { throw Refusal(reason: "it belongs to another issuer or address") }
        let age = now - fetchedAt
        guard age >= -Self.clockTolerance else { throw Refusal(reason: "it is from the future") }
        guard age <= lifetime + staleIfErrorSeconds else { throw Refusal(reason: "it is too old") }
        let omittedCount = members["omitted"]?.integer ?? 0
        do {
            let all = try JWKSet(Array(set.utf8))
            guard (0..<Int64(all.keys.count)).contains(omittedCount) else { throw Refusal(reason: "it is damaged") }
            let own = all.prefix(all.keys.count - Int(omittedCount))
            return Restored(
                keys: FetchedKeys(
                    keys: own, algorithms: SignatureAlgorithms(naming: listed.compactMap(\.string)),
                    source: .disk, lifetime: .seconds(lifetime), fetchedAtUnixSeconds: fetchedAt,
                    endpoints: members["endpoints"]?.object.map(DiscoveredEndpoints.init(archived:))),
                omitted: Array(all.keys.suffix(Int(omittedCount))), age: .seconds(max(age, 0)))
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Refusal(reason: "it holds no usable key")
        }
    }

    private func readFile() throws(Refusal) -> [UInt8]? {
        let file: SmallFile
        do throws(SmallFile.Failure) {
            file = try SmallFile(path: path, maximumSize: Self.maximumSize, followingLinks: false)
        } catch {
            switch error {
            case .notThere: return nil
            case .notOpened: throw Refusal(reason: "it can't be opened, or is a link")
            case .notRegular: throw Refusal(reason: "it is not a regular file")
            case .tooLarge: throw Refusal(reason: "it is too large")
            case .notRead: throw Refusal(reason: "it can't be read")
            }
        }
        guard file.owner == geteuid(), file.mode & 0o022 == 0 else {
            throw Refusal(reason: "other users could have written it")
        }
        return file.bytes
    }

    private func header(_ format: String, for content: [UInt8]) -> [UInt8] {
        let digest = (try? DigestContext().digest(content.span, with: .sha256)) ?? []
        return Array("\(format) ".utf8) + Base64URL.encode(digest)
    }

    // MARK: Writing

    /// Replaces the file atomically: whenever the machine stops, a reader finds the old or the new file, complete.
    ///
    /// - Parameter omitted: keys that are still in use although `keys` omits them; they are stored after the others.
    /// - Returns: whether it succeeded.
    package func save(_ keys: FetchedKeys, omitted: [JWK] = [], lifetime: Interval) -> Bool {
        let all = keys.keys.adding(omitted)
        let set = omitted.isEmpty && !keys.text.isEmpty ? keys.text : all.json
        var json = JSONWriter(reservingCapacity: set.count + 512)
        json.value(
            .object([
                "provider": .string(provider), "issuer": .string(issuer), "location": .string(location),
                "fetched_at": .integer(keys.fetchedAtUnixSeconds), "lifetime": .integer(lifetime.secondsRoundedUp),
                "algorithms": .array(keys.algorithms.names.sorted().map(JSONTree.string)),
                "jwks": .string(String(decoding: set, as: UTF8.self)),
                "omitted": .integer(Int64(all.keys.count - keys.keys.keys.count)),
                "endpoints": keys.endpoints?.archived ?? .null,
            ]))
        guard folder?.makeRoom(for: issuer) ?? true else { return false }
        return replaceFile(header(Self.format, for: json.bytes) + [UInt8(ascii: "\n")] + json.bytes)
    }

    private func replaceFile(_ bytes: [UInt8]) -> Bool {
        let temporary = path + ".new"
        // A file that a killed process left behind while writing.
        unsafe unlink(temporary)
        let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        let isWritten = unsafe write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
        guard close(file) == 0, isWritten, unsafe rename(temporary, path) == 0 else { return false }
        // The rename must survive a power failure too.
        let folder = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return false }
        defer { close(folder) }
        return fsync(folder) == 0
    }
}

/// The directory with the archived keys of an entry's many issuers: one file each, whose name is a hash of entry and
/// issuer, and no more files than the entry may have issuers.
///
/// It is used on the threads that may block.
package final class IssuerFolder: Sendable {
    let path: String
    let entry: String
    private let maximumFiles: Int
    private let index = Mutex(Index())

    /// The files in the order in which they were written.
    struct Index {
        fileprivate var isRead = false
        /// Also of files that are gone or were written again since.
        private(set) var order: CircularBuffer<(name: String, number: Int)> = []
        /// The number under which each file was written last.
        fileprivate private(set) var numbers: [String: Int] = [:]
        private var next = 0

        init() {}

        mutating func note(_ name: String) {
            numbers[name] = next
            order.append((name, next))
            next += 1
            // While there is room for all files, nothing else removes what was written again.
            if order.count > 2 * numbers.count + Self.slack {
                order = CircularBuffer(order.filter { numbers[$0.name] == $0.number })
            }
        }

        static let slack = 1024

        /// Removes and returns the file that was written longest ago.
        mutating func removeOldest() -> String? {
            while let (name, number) = order.popFirst() {
                guard numbers[name] == number else { continue }
                numbers[name] = nil
                return name
            }
            return nil
        }
    }

    /// - Parameters:
    ///   - directory: the cache directory.
    ///   - entry: the entry's ID.
    package init(in directory: String, entry: String, maximumFiles: Int) {
        path = directory + "/" + entry + ".issuers"
        self.entry = entry
        self.maximumFiles = maximumFiles
    }

    /// The name of an issuer's file.
    func name(of issuer: String) -> String {
        let digest = (try? DigestContext().digest(Array("\(entry)\n\(issuer)".utf8).span, with: .sha256)) ?? []
        return String(hexadecimal: digest.span) + ".keys"
    }

    /// Removes the oldest files, so that one for this issuer can be written.
    ///
    /// - Returns: whether the directory exists.
    func makeRoom(for issuer: String) -> Bool {
        let name = name(of: issuer)
        return index.withLock { index in
            if !index.isRead {
                guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { return false }
                for old in Self.files(in: path) { index.note(old) }
                index.isRead = true
            }
            index.note(name)
            while index.numbers.count > maximumFiles, let oldest = index.removeOldest() {
                unsafe unlink(path + "/" + oldest)
            }
            return true
        }
    }

    /// The names of the files that an earlier process wrote, the oldest first.
    private static func files(in path: String) -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var files: [(name: String, seconds: Int)] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard name.hasSuffix(".keys") else { continue }
            var status = stat()
            guard unsafe stat(path + "/" + name, &status) == 0 else { continue }
            files.append((name, status.st_mtim.tv_sec))
        }
        return files.sorted { ($0.seconds, $0.name) < ($1.seconds, $1.name) }.map(\.name)
    }
}
