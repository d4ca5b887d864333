import Glibc

/// The process's limit on open files and sockets.
enum DescriptorLimit {
    /// Raises the limit as far as the system allows: a shell's or systemd's usual 1024 is far below `max_connections`.
    ///
    /// - Returns: the current limit.
    static func raise() -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { return 0 }
        limit.rlim_cur = limit.rlim_max
        // If it can't be raised, the returned limit says so.
        unsafe setrlimit(resource, &limit)
        guard unsafe getrlimit(resource, &limit) == 0 else { return 0 }
        return Int(clamping: limit.rlim_cur)
    }
}
