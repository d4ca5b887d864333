import Glibc

/// How the system's resolver resolves `localhost`.
enum LocalHost {
    /// Whether it has an address other than 127.0.0.1, where a test's server listens.
    static let hasSeveralAddresses: Bool = {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo("localhost", nil, &hints, &found) == 0 else { return false }
        defer { unsafe freeaddrinfo(found) }
        return unsafe found?.pointee.ai_family == AF_INET6 && found?.pointee.ai_next != nil
    }()
}
