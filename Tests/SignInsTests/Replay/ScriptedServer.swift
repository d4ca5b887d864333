import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A server on loopback that answers commands as a test prescribes, and records them.
final class ScriptedServer: Sendable {
    struct Command: Sendable {
        /// The number of the connection, from 1.
        let connection: Int
        let words: [String]

        var name: String { words[0] }
    }

    enum Answer: Sendable {
        case bytes(String)
        case silence
        case close
        /// Ignores all further input on this connection, including its end.
        case freeze

        static let ok = bytes("+OK\r\n")
        static let null = bytes("$-1\r\n")
        static func error(_ text: String) -> Answer { bytes("-\(text)\r\n") }
    }

    /// How it answers `CONFIG` and `INFO`.
    struct Report: Sendable {
        let answer: @Sendable (Command) -> Answer

        static let forbidden = Report { _ in .error("NOPERM no") }
    }

    private struct State {
        var commands: [Command] = []
        var channels: [any Channel] = []
    }

    private let state = Mutex(State())
    private let listener = Mutex<(any Channel)?>(nil)
    /// Not the event loop of the stores.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// - Parameters:
    ///   - report: answers `CONFIG` and `INFO` where `answer` is `OK`.
    ///   - answer: called with each command. If it is `OK`, `PING` is answered normally.
    static func run<Value>(
        host: String = "127.0.0.1", tls: TLSConfiguration? = nil,
        report: Report = .forbidden,
        _ answer: @escaping @Sendable (Command) -> Answer, _ body: (ScriptedServer) async throws -> Value
    ) async throws -> Value {
        let server = ScriptedServer()
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let number = server.state.withLock { state in
                        state.channels.append(channel)
                        return state.channels.count
                    }
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                    try channel.pipeline.syncOperations.addHandler(
                        CommandHandler { words in
                            let command = Command(connection: number, words: words)
                            server.state.withLock { $0.commands.append(command) }
                            let answer = answer(command)
                            guard answer.isOK else { return answer }
                            return switch command.name {
                            case "PING": .bytes("+PONG\r\n")
                            case "CONFIG", "INFO": report.answer(command)
                            default: answer
                            }
                        })
                }
            }
            .bind(host: host, port: 0).get()
        server.listener.withLock { $0 = listener }
        do {
            let value = try await body(server)
            await server.stop()
            return value
        } catch {
            await server.stop()
            throw error
        }
    }

    var port: Int { listener.withLock { $0?.localAddress?.port } ?? 0 }
    var commands: [Command] { state.withLock(\.commands) }
    var connections: Int { state.withLock(\.channels.count) }
    var openConnections: Int { state.withLock { $0.channels.count { $0.isActive } } }
    func count(_ name: String) -> Int { commands.count { $0.name == name } }

    /// Sends unsolicited data.
    func send(_ text: String, to connection: Int) async throws {
        let channel = state.withLock { $0.channels[connection - 1] }
        try await channel.writeAndFlush(ByteBuffer(string: text))
    }

    func stop() async {
        try? await listener.withLock(\.self)?.close()
        for channel in state.withLock(\.channels) { try? await channel.close() }
    }
}

extension ScriptedServer.Answer {
    fileprivate var isOK: Bool { if case .bytes("+OK\r\n") = self { true } else { false } }
}

private final class CommandHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: ([String]) -> ScriptedServer.Answer
    private var received = ByteBuffer()

    init(_ answer: @escaping ([String]) -> ScriptedServer.Answer) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var more = unwrapInboundIn(data)
        received.writeBuffer(&more)
        while let words = command() {
            switch answer(words) {
            case .bytes(let text):
                let octets = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: octets)), promise: nil)
            case .silence: break
            case .close: context.close(promise: nil)
            case .freeze: try? context.channel.syncOptions?.setOption(.autoRead, value: false)
            }
        }
    }

    /// The next complete command.
    private func command() -> [String]? {
        var rest = received
        guard let count = number(in: &rest, after: "*") else { return nil }
        var words: [String] = []
        for _ in 0..<count {
            guard let length = number(in: &rest, after: "$"), let octets = rest.readBytes(length: length),
                rest.readString(length: 2) == "\r\n"
            else { return nil }
            // One character per octet, whatever its value.
            words.append(String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) })))
        }
        received = rest
        return words
    }

    private func number(in buffer: inout ByteBuffer, after mark: String) -> Int? {
        guard buffer.readString(length: 1) == mark, let end = buffer.readableBytesView.firstIndex(of: 0x0d),
            let text = buffer.readString(length: end - buffer.readerIndex), buffer.readString(length: 2) == "\r\n"
        else { return nil }
        return Int(text)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
