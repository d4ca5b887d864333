private import Glibc
internal import HTTP

/// Resolves host names with the system's resolver, which blocks a thread for as long as the name server hangs.
struct NameResolver: Sendable {
    private let lookups: NameLookups

    static let shared = NameResolver()

    /// - Parameters:
    ///   - threads: the maximum number of names that are looked up at the same time.
    ///   - countOfMany: the maximum number of them for entries with many issuers.
    ///   - lookUp: the addresses of a name; none if it does not exist. It may block.
    init(
        threads: Int = 8, ofMany countOfMany: Int = 5,
        lookUp: @escaping @Sendable (String) -> [String] = systemLookup
    ) {
        lookups = NameLookups(threads: threads, ofMany: countOfMany, lookUp: lookUp)
    }

    /// The addresses as text, in the order in which the system would try them. Concurrent calls for the same name share
    /// one lookup.
    ///
    /// - Throws: ``FetchFailure`` of the phase `dns`.
    func addresses(
        of host: String, for client: NameLookups.Client = .singleIssuer
    ) async throws(FetchFailure) -> [String] {
        let addresses = await lookups.addresses(of: host, for: client)
        guard !addresses.isEmpty else { throw FetchFailure(.dns, "the host name has no address") }
        return addresses
    }

    @Sendable private static func systemLookup(_ host: String) -> [String] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &found) == 0 else { return [] }
        defer { unsafe freeaddrinfo(found) }
        var addresses: [String] = []
        var next = unsafe found
        while let entry = unsafe next {
            if let address = unsafe text(of: entry.pointee) { addresses.append(address) }
            unsafe next = entry.pointee.ai_next
        }
        return addresses
    }

    /// `nil` for anything but an IP address, and for one that is valid on one link only.
    @unsafe private static func text(of entry: addrinfo) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = unsafe getnameinfo(
            entry.ai_addr, entry.ai_addrlen, &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST)
        guard status == 0 else { return nil }
        let text = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text.contains("%") ? nil : text
    }
}
