import Glibc

/// How many files and sockets the process may have open.
enum DescriptorLimit {
    /// Raises the limit as far as the system lets us: a shell's or systemd's usual 1024 is far below `max_connections`.
    ///
    /// - Returns: what it is now.
    static func raise() -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { return 0 }
        limit.rlim_cur = limit.rlim_max
        // Where it can't be raised it stays, which the caller can tell by what is returned.
        unsafe setrlimit(resource, &limit)
        guard unsafe getrlimit(resource, &limit) == 0 else { return 0 }
        return Int(clamping: limit.rlim_cur)
    }
}
