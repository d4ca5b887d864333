internal import Glibc

/// Access to a Unix domain socket: the mode and the group of its file.
package struct SocketPermissions: Sendable, Equatable {
    /// Connecting requires write permission.
    package let mode: UInt32
    /// A name or a number; `nil` for the group that the system assigns.
    package let group: String?

    /// - Parameter mode: by default, only the user of this process may connect.
    package init(mode: UInt32 = 0o600, group: String? = nil) {
        self.mode = mode
        self.group = group
    }

    /// The group's number.
    ///
    /// - Throws: ``UnknownGroup``.
    func groupID() throws(UnknownGroup) -> gid_t? {
        guard let group else { return nil }
        if let number = gid_t(group) { return number }
        var entry = unsafe Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        // The system reads a group's members together with its number.
        var memory = [CChar](repeating: 0, count: 256 * 1024)
        guard unsafe getgrnam_r(group, &entry, &memory, memory.count, &found) == 0, unsafe found != nil else {
            throw UnknownGroup(name: group)
        }
        return unsafe entry.gr_gid
    }

    /// Checks that the group exists on this machine.
    ///
    /// - Throws: ``UnknownGroup``.
    package func check() throws(UnknownGroup) { _ = try groupID() }
}

/// A group that does not exist on this machine.
package struct UnknownGroup: Error, CustomStringConvertible {
    let name: String
    package var description: String { "this machine has no group \(name); create it, or use a group ID" }
}
