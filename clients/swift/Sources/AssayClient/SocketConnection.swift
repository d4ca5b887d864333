#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#else
import Darwin
#endif

struct ConnectionFailure: Error {
    /// Why there is no connection.
    var reason = ""

    /// What the system says about its error.
    static func system(_ error: Int32) -> Self { Self(reason: String(cString: strerror(error))) }
}

/// Where a server listens.
enum SocketAddress: Sendable {
    case tcp(host: String, port: Int)
    case unix(path: String)
}

/// A connection, which one request uses at a time. It is closed when nobody holds it.
final class SocketConnection {
    private let descriptor: Int32
    private var received: [UInt8] = []
    private(set) var usedAt = ContinuousClock.now

    private static let largest = 16 << 20

    init(to address: SocketAddress, until end: ContinuousClock.Instant) throws {
        switch address {
        case .unix(let path): descriptor = try Self.connect(unix: path, until: end)
        case .tcp(let host, let port): descriptor = try Self.connect(host, port, until: end)
        }
    }

    deinit { close(descriptor) }

    /// The response, and whether another request may follow.
    func exchange(_ request: [UInt8], until end: ContinuousClock.Instant) throws -> (Reply, isReusable: Bool) {
        try write(request, until: end)
        var head = try head(until: end)
        while 100..<200 ~= head.status { head = try self.head(until: end) }
        let (body, isWhole) = try body(head, until: end)
        usedAt = .now
        let seconds = head.fields["retry-after"].flatMap { $0.allSatisfy(\.isNumber) && $0.count < 10 ? Int($0) : nil }
        let isReusable = isWhole && received.isEmpty && head.fields["connection"]?.lowercased() != "close"
        return (Reply(status: head.status, body: body, retryAfter: seconds), isReusable)
    }

    private struct Head {
        var status: Int
        var fields: [String: String]
    }

    private func head(until end: ContinuousClock.Instant) throws -> Head {
        let parts = try line(until: end).split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), let status = Int(parts[1]) else {
            throw ConnectionFailure()
        }
        var fields: [String: String] = [:]
        while case let line = try line(until: end), !line.isEmpty {
            guard let colon = line.firstIndex(of: ":") else { throw ConnectionFailure() }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            fields[line[..<colon].lowercased()] = String(value)
        }
        return Head(status: status, fields: fields)
    }

    private func body(_ head: Head, until end: ContinuousClock.Instant) throws -> ([UInt8], isWhole: Bool) {
        if head.status == 204 || head.status == 304 { return ([], true) }
        if head.fields["transfer-encoding"]?.lowercased() == "chunked" { return (try chunks(until: end), true) }
        if let field = head.fields["content-length"] {
            guard let length = Int(field) else { throw ConnectionFailure() }
            return (try octets(length, until: end), true)
        }
        while try receive(until: end) {}
        defer { received = [] }
        return (received, false)
    }

    private func chunks(until end: ContinuousClock.Instant) throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let size = try line(until: end).prefix { $0 != ";" && $0 != " " }
            guard let length = Int(size, radix: 16), body.count + length <= Self.largest else {
                throw ConnectionFailure()
            }
            if length == 0 { break }
            body += try octets(length, until: end)
            _ = try line(until: end)
        }
        while try !line(until: end).isEmpty {}
        return body
    }

    private func octets(_ count: Int, until end: ContinuousClock.Instant) throws -> [UInt8] {
        guard 0...Self.largest ~= count else { throw ConnectionFailure() }
        while received.count < count { guard try receive(until: end) else { throw ConnectionFailure() } }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }

    private func line(until end: ContinuousClock.Instant) throws -> String {
        while true {
            if let newline = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeSubrange(...newline) }
                let line = received[..<newline]
                return String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
            }
            guard received.count < 65_536, try receive(until: end) else { throw ConnectionFailure() }
        }
    }

    /// Reads what is there, or waits; returns `false` at the end.
    private func receive(until end: ContinuousClock.Instant) throws -> Bool {
        guard received.count <= Self.largest else { throw ConnectionFailure() }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { received += buffer[..<count] }
            if count >= 0 { return count > 0 }
            try Self.wait(for: POLLIN, on: descriptor, until: end)
        }
    }

    private func write(_ octets: [UInt8], until end: ContinuousClock.Instant) throws {
        var sent = 0
        while sent < octets.count {
            let count = octets[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Self.noSignal) }
            if count > 0 { sent += count } else { try Self.wait(for: POLLOUT, on: descriptor, until: end) }
        }
    }

    #if canImport(Darwin)
    private static let noSignal: Int32 = 0
    private static let stream = SOCK_STREAM
    #else
    private static let noSignal = Int32(MSG_NOSIGNAL.rawValueOrSelf)
    private static let stream = Int32(SOCK_STREAM.rawValueOrSelf)
    #endif

    private static func connect(_ host: String, _ port: Int, until end: ContinuousClock.Instant) throws -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = stream
        var first: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, String(port), &hints, &first)
        guard result == 0 else { throw ConnectionFailure(reason: String(cString: gai_strerror(result))) }
        defer { freeaddrinfo(first) }
        var failure = ConnectionFailure(reason: "the host name has no address")
        var next = first
        while let found = next?.pointee {
            next = found.ai_next
            do {
                return try connect(found.ai_family, found.ai_addr, found.ai_addrlen, until: end)
            } catch let error as ConnectionFailure {
                failure = error
            }
        }
        throw failure
    }

    private static func connect(unix path: String, until end: ContinuousClock.Instant) throws -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let octets = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard octets.count < room.count else { return false }
            room.copyBytes(from: octets)
            return true
        }
        guard fits else { throw ConnectionFailure.system(ENAMETOOLONG) }
        return try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try connect(AF_UNIX, $0, socklen_t(MemoryLayout<sockaddr_un>.size), until: end)
            }
        }
    }

    private static func connect(
        _ family: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t, until end: ContinuousClock.Instant
    ) throws -> Int32 {
        let descriptor = socket(family, stream, 0)
        guard descriptor >= 0 else { throw ConnectionFailure.system(errno) }
        do {
            var one: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            #if canImport(Darwin)
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, size)
            #endif
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
            if family != AF_UNIX { setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, size) }
            #if canImport(Darwin)
            let result = Darwin.connect(descriptor, address, length)
            #elseif canImport(Musl)
            let result = Musl.connect(descriptor, address, length)
            #else
            let result = Glibc.connect(descriptor, address, length)
            #endif
            if result != 0 {
                guard errno == EINPROGRESS else { throw ConnectionFailure.system(errno) }
                try wait(for: POLLOUT, on: descriptor, until: end)
                var error: Int32 = 0
                var length = size
                guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0, error == 0 else {
                    throw ConnectionFailure.system(error)
                }
            }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// After a call that failed: waits if the descriptor was not ready.
    private static func wait(for event: Int32, on descriptor: Int32, until end: ContinuousClock.Instant) throws {
        let left = ContinuousClock.now.duration(to: end)
        guard [EAGAIN, EWOULDBLOCK, EINTR, EINPROGRESS].contains(errno), left > .zero else { throw ConnectionFailure() }
        var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        let milliseconds = left.components.seconds * 1_000 + left.components.attoseconds / 1_000_000_000_000_000 + 1
        let result = poll(&entry, 1, Int32(clamping: milliseconds))
        guard result > 0 || result < 0 && errno == EINTR else { throw ConnectionFailure(reason: "timed out") }
    }
}

#if !canImport(Darwin)
extension BinaryInteger {
    /// Some C libraries import constants as enumerations, and others as integers.
    fileprivate var rawValueOrSelf: Self { self }
}

extension RawRepresentable where RawValue: BinaryInteger {
    fileprivate var rawValueOrSelf: RawValue { rawValue }
}
#endif
