private import Bytes
private import Glibc
private import OpenSSL
private import Synchronization

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
    private struct Index {
        var isRead = false
        var order: [(name: String, number: Int)] = []
        /// Where the oldest file in `order` may be.
        var start = 0
        /// The number under which each file was written last.
        var numbers: [String: Int] = [:]
        var next = 0

        mutating func note(_ name: String) {
            numbers[name] = next
            order.append((name, next))
            next += 1
        }

        /// Removes and returns the file that was written longest ago.
        mutating func removeOldest() -> String? {
            while start < order.count {
                let (name, number) = order[start]
                start += 1
                if start > 1024, start > order.count / 2 {
                    order.removeFirst(start)
                    start = 0
                }
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
