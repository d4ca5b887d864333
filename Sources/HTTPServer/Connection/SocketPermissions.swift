internal import Glibc

/// Who may connect to a Unix domain socket: the mode and the group of its file.
package struct SocketPermissions: Sendable, Equatable {
    /// To connect takes the right to write.
    package let mode: UInt32
    /// A name or a number; `nil`: the group that the system gives the file.
    package let group: String?

    /// - Parameter mode: unless something else is asked for, nobody but the user of this process may connect.
    package init(mode: UInt32 = 0o600, group: String? = nil) {
        self.mode = mode
        self.group = group
    }

    /// The number of the group.
    ///
    /// - Throws: ``UnknownGroup``.
    func groupID() throws(UnknownGroup) -> gid_t? {
        guard let group else { return nil }
        if let number = gid_t(group) { return number }
        var entry = unsafe Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        // A group's members are read along with its number.
        var memory = [CChar](repeating: 0, count: 256 * 1024)
        guard unsafe getgrnam_r(group, &entry, &memory, memory.count, &found) == 0, unsafe found != nil else {
            throw UnknownGroup(name: group)
        }
        return unsafe entry.gr_gid
    }

    /// Says whether the group is one that this machine knows.
    ///
    /// - Throws: ``UnknownGroup``.
    package func check() throws(UnknownGroup) { _ = try groupID() }
}

/// A group that this machine does not know.
package struct UnknownGroup: Error, CustomStringConvertible {
    let name: String
    package var description: String { "this machine has no group \(name); give its number if it should have none" }
}
