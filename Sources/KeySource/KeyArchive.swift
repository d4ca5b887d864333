package import Clocks
private import Glibc
private import JOSE
private import JSON
private import OpenSSL

/// A provider's last good key set on disk, so that a restart during its outage still verifies.
///
/// One file a provider: a line with a format name and the SHA-256 of the rest, then a JSON object. A file that is damaged, of
/// another provider, from the future or too old is not trusted, nor is one that anybody else could have written.
package struct KeyArchive: Sendable {
    private let path: String
    private let directory: String
    private let provider: String
    private let issuer: String
    private let location: String
    private let staleForSeconds: Int64

    /// What was found, and how old it is.
    package struct Restored: Sendable {
        package let keys: FetchedKeys
        package let age: Interval
    }

    /// Why a file was not used: text written here.
    package struct Refusal: Error, Sendable, Equatable {
        package let reason: String
    }

    private static let format = "assay-keys-1"
    private static let maximumSize = 1024 * 1024
    /// Far from where arithmetic would overflow.
    private static let sensibleSeconds: ClosedRange<Int64> = 0...(1 << 40)
    /// The wall clock may have been put back a little since the file was written.
    private static let clockTolerance: Int64 = 300

    /// - Parameters:
    ///   - location: where the keys come from; a file from elsewhere is not this provider's.
    ///   - staleFor: how long keys serve past their lifetime.
    package init(directory: String, provider: String, issuer: String, location: String, staleFor: Interval) {
        self.directory = directory
        path = directory + "/" + provider + ".keys"
        self.provider = provider
        self.issuer = issuer
        self.location = location
        staleForSeconds = staleFor.secondsRoundedUp
    }

    // MARK: Reading

    /// Reads what was kept; `nil` where there is nothing.
    ///
    /// - Throws: ``Refusal`` for a file that is there and can't be trusted.
    package func load(nowUnixSeconds now: Int64) throws(Refusal) -> Restored? {
        guard let bytes = try readFile() else { return nil }
        guard let lineEnd = bytes.firstIndex(of: UInt8(ascii: "\n")) else { throw Refusal(reason: "it is damaged") }
        let content = Array(bytes[(lineEnd + 1)...])
        guard Array(bytes[..<lineEnd]) == header(for: content) else { throw Refusal(reason: "its checksum is wrong") }
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
        guard age <= lifetime + staleForSeconds else { throw Refusal(reason: "it is too old") }
        do {
            return Restored(
                keys: FetchedKeys(
                    keys: try JWKSet(Array(set.utf8)), text: Array(set.utf8),
                    algorithms: Set(listed.compactMap { $0.string.flatMap(SignatureAlgorithm.init(rawValue:)) }),
                    source: .disk, lifetime: .seconds(lifetime), fetchedAtUnixSeconds: fetchedAt),
                age: .seconds(max(age, 0)))
        } catch {
            throw Refusal(reason: "it holds no usable key")
        }
    }

    private func readFile() throws(Refusal) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw Refusal(reason: "it can't be opened")
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o022 == 0
        else { throw Refusal(reason: "others could have written it") }
        guard status.st_size <= Self.maximumSize else { throw Refusal(reason: "it is too large") }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = unsafe read(file, &bytes, bytes.count)
        guard count == bytes.count else { throw Refusal(reason: "it can't be read") }
        return bytes
    }

    private func header(for content: [UInt8]) -> [UInt8] {
        let digest = (try? DigestContext().digest(content.span, with: .sha256)) ?? []
        return Array("\(Self.format) ".utf8) + Base64URL.encode(digest)
    }

    // MARK: Writing

    /// Keeps a key set in place of the one before: a reader finds either of them, whole, whenever the machine stops.
    ///
    /// - Returns: whether it is on disk now.
    package func save(_ keys: FetchedKeys, lifetime: Interval) -> Bool {
        var json = JSONWriter(reservingCapacity: keys.text.count + 512)
        json.value(
            .object([
                "provider": .string(provider), "issuer": .string(issuer), "location": .string(location),
                "fetched_at": .integer(keys.fetchedAtUnixSeconds), "lifetime": .integer(lifetime.secondsRoundedUp),
                "algorithms": .array(keys.algorithms.map(\.rawValue).sorted().map(JSONTree.string)),
                "jwks": .string(String(decoding: keys.text, as: UTF8.self)),
            ]))
        return replaceFile(header(for: json.bytes) + [UInt8(ascii: "\n")] + json.bytes)
    }

    private func replaceFile(_ bytes: [UInt8]) -> Bool {
        let temporary = path + ".new"
        // A file left behind by a process that was killed while it wrote; it is nobody's.
        unsafe unlink(temporary)
        let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        let isWritten = unsafe write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
        guard close(file) == 0, isWritten, unsafe rename(temporary, path) == 0 else { return false }
        // The rename itself must outlast a power cut too.
        let folder = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return false }
        defer { close(folder) }
        return fsync(folder) == 0
    }
}
