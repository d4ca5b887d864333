/// The process's memory limit, from its cgroups.
package enum MemoryLimit {
    /// The lowest limit of the process's group and its ancestors, in bytes; `nil` if there is none.
    ///
    /// - Parameter content: returns the content of the file at a path; `nil` if it does not exist.
    package static func read(_ content: (String) -> String?) -> Int? {
        guard let groups = content("/proc/self/cgroup") else { return nil }
        // hierarchy-ID:controllers:path (cgroups(7)); version 2 has the ID 0 and no controllers.
        let limits = groups.split(separator: "\n").flatMap { line -> [Int] in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return [] }
            if parts[0] == "0" { return self.limits("/sys/fs/cgroup", String(parts[2]), "memory.max", content) }
            guard parts[1].split(separator: ",").contains("memory") else { return [] }
            return self.limits("/sys/fs/cgroup/memory", String(parts[2]), "memory.limit_in_bytes", content)
        }
        return limits.min()
    }

    /// The limits of a group and its ancestors. In a container, the group itself may be mounted as the root, whatever
    /// its path on the host. So every path up to the root is tried.
    private static func limits(
        _ root: String, _ path: String, _ file: String, _ content: (String) -> String?
    ) -> [Int] {
        var parts = path.split(separator: "/").map(String.init)
        var found: [Int] = []
        while true {
            let place = ([root] + parts + [file]).joined(separator: "/")
            // `max`, or a number near 2^63, means no limit.
            let text = content(place)?.split(separator: "\n").first.map(String.init)
            if let limit = text.flatMap(Int.init), limit < 1 << 48 { found.append(limit) }
            guard !parts.isEmpty else { return found }
            parts.removeLast()
        }
    }
}
