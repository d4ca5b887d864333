import NIOCore
import NIOPosix

/// A client that sends raw bytes over a real socket and reads responses, with a timeout for everything.
final class Wire: Sendable {
    private let channel: any Channel
    private let inbox: NIOLoopBound<Inbox>

    static func connect(_ listening: Listening) async throws -> Wire {
        // Not a shared loop: other tests' work would make a client look slow.
        let loop = listening.clients.next()
        let inbox = try await loop.submit { NIOLoopBound(Inbox(), eventLoop: loop) }.get()
        let bootstrap = ClientBootstrap(group: loop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(inbox.value) }
            }
        let channel =
            switch listening.target {
            case .port(let port): try await bootstrap.connect(host: "127.0.0.1", port: port).get()
            case .path(let path): try await bootstrap.connect(unixDomainSocketPath: path).get()
            }
        return Wire(channel, inbox)
    }

    private init(_ channel: any Channel, _ inbox: NIOLoopBound<Inbox>) {
        self.channel = channel
        self.inbox = inbox
    }

    func send(_ text: String) async throws { try await send(bytes: Array(text.utf8)) }

    func send(bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

    /// Sends data without waiting for the result, because the server may have closed the connection.
    func offer(_ text: String) { channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }

    /// Closes the sending side.
    func halfClose() async throws { try await channel.close(mode: .output) }

    func close() async throws { try await channel.close() }

    /// The next response.
    ///
    /// - Parameter toHead: whether the request was a `HEAD`, whose response has no content.
    func response(toHead: Bool = false) async throws -> WireResponse {
        try await take { inbox in
            guard let (response, length) = try WireResponse.parse(inbox.bytes, toHead: toHead) else {
                guard !inbox.isClosed else { throw WireError.closedEarly(text: text(inbox.bytes)) }
                return nil
            }
            inbox.bytes.removeFirst(length)
            return response
        }
    }

    /// Everything received until the server closes the connection.
    func untilClosed() async throws -> String {
        try await take { inbox in
            guard inbox.isClosed else { return nil }
            defer { inbox.bytes = [] }
            return text(inbox.bytes)
        }
    }

    private func take<Value: Sendable>(_ read: @escaping @Sendable (Inbox) throws -> Value?) async throws -> Value {
        try await channel.eventLoop.flatSubmit { [inbox, channel] in
            let promise = channel.eventLoop.makePromise(of: Value.self)
            let late = channel.eventLoop.scheduleTask(in: .seconds(20)) {
                promise.fail(WireError.deadline(text: text(inbox.value.bytes)))
            }
            promise.futureResult.whenComplete { _ in late.cancel() }
            inbox.value.expect {
                do {
                    guard let value = try read(inbox.value) else { return false }
                    promise.succeed(value)
                } catch {
                    promise.fail(error)
                }
                return true
            }
            return promise.futureResult
        }.get()
    }
}

enum WireError: Error {
    case closedEarly(text: String)
    case deadline(text: String)
    case malformed(text: String)
}

/// The received bytes of one connection. Confined to its loop.
private final class Inbox: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    var bytes: [UInt8] = []
    var isClosed = false
    private var expectation: (() -> Bool)?

    /// Checks a condition now, and after every change until it holds.
    func expect(_ isContent: @escaping () -> Bool) {
        expectation = isContent
        check()
    }

    private func check() { if expectation?() == true { expectation = nil } }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes.append(contentsOf: unwrapInboundIn(data).readableBytesView)
        check()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { close() }
    }

    func channelInactive(context: ChannelHandlerContext) { close() }

    // A reset counts as a close, after what was received before.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func close() {
        isClosed = true
        check()
    }
}

/// A response as received.
struct WireResponse: Sendable, Equatable {
    let status: Int
    let reason: String
    let headers: [String: String]
    let body: String

    var closes: Bool { headers["connection"] == "close" }

    /// The first response in some bytes and its length; `nil` while it is incomplete.
    ///
    /// - Throws: ``WireError/malformed(text:)`` for anything that is not a response, including one with repeated
    ///   fields.
    static func parse(_ bytes: [UInt8], toHead: Bool) throws -> (WireResponse, length: Int)? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = text(bytes[..<end.lowerBound]).components(separatedBy: "\r\n")
        let start = lines[0].split(separator: " ", maxSplits: 2)
        guard start.count == 3, start[0] == "HTTP/1.1", let status = Int(start[1]) else {
            throw WireError.malformed(text: lines[0])
        }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2,
                headers.updateValue(String(parts[1].dropFirst()), forKey: parts[0].lowercased()) == nil
            else { throw WireError.malformed(text: line) }
        }
        let length = toHead || status < 200 ? 0 : headers["content-length"].flatMap { Int($0) } ?? 0
        guard bytes.count >= end.upperBound + length else { return nil }
        let body = text(bytes[end.upperBound..<(end.upperBound + length)])
        return (
            WireResponse(status: status, reason: String(start[2]), headers: headers, body: body),
            end.upperBound + length
        )
    }
}

private func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

extension String {
    fileprivate func components(separatedBy separator: String) -> [String] {
        var rest = self[...]
        var parts: [String] = []
        while let range = rest.firstRange(of: separator) {
            parts.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return parts + [String(rest)]
    }
}
