internal import NIOCore
private import NIOSSL

/// How a connection's unread output is counted, and how the connection ends.
extension HTTPConnection {
    // MARK: Unread output

    /// Counts unread output if there may be some. Called at each tick of ``table``.
    ///
    /// - Parameter isSecond: whether a full second has passed.
    func checkUnread(isSecond: Bool) {
        // While nothing is read from the socket, the client can fill the kernel's receive buffer.
        let isHeldUp = !isWritable || phase == .answering
        if isHeldUp || isSecond && unread.mustBeCounted { measureUnread() }
    }

    /// Counts unread output, and makes room if there is too much across all connections.
    func measureUnread() {
        countUnread()
        // Later, because the channel may be in the middle of reading or writing.
        if let context, counts.holdsTooMuch {
            context.eventLoop.assumeIsolated().execute { self.table.makeRoom() }
        }
    }

    var unreadBytes: Int { quota.unreadBytes }
    var unreadSince: Int { unread.since }

    /// Counts the bytes that the client has not read, in this process and in the kernel.
    func countUnread() {
        // A closed connection has returned everything.
        guard let context, context.channel.isActive else { return }
        let unwritten = unwrittenBytes
        let inKernel = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable {
            (socket: NIOBSDSocket.Handle) in SocketMemory.bytes(of: socket)
        }
        quota.holdUnread(unread.count(unwritten: unwritten, inKernel: inKernel ?? 0, tick: table.tick))
    }

    /// Closes the connection with a reset, so that unread output is freed at once, in this process and in the kernel.
    func abort() {
        guard let context else { return }
        phase = .lingering
        forgetRequests()
        quota.holdUnread(0)
        unread.forget()
        _ = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable { (socket: NIOBSDSocket.Handle) in
            SocketMemory.dropAtClose(socket)
        }
        // Bypass TLS, which would first flush its output and wait for the client.
        let first =
            isEncrypted ? try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) : nil
        (first ?? context).close(promise: nil)
    }

    // MARK: Ending

    /// Ends a connection whose input is closed, once all requests have been answered.
    func endIfAllIsAnswered() {
        // Input that was held back while the client did not read still has to be parsed.
        if isInputClosed, canGoOn, !isResumeScheduled { end() }
    }

    /// Stops reading requests, and closes once the responses have been written.
    func end() {
        guard !isEnding, let context else { return }
        phase = .writing
        forgetRequests()
        expectAnswersToBeTaken()
        let written = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        written.futureResult.whenSuccess { bound.value.lastAnswerWritten() }
        give(output.take() ?? ByteBuffer(), isOwn: true, written: written)
        // Read and discard further input: unread input would cause a reset.
        if wantsRead { context.read() }
    }

    func forgetRequests() {
        head = nil
        input = ByteBuffer()
        reader = RequestReader(maximumHeader: limits.maximumHeader)
        faultBehind = nil
        _ = quota.hold(0)
    }

    private func lastAnswerWritten() {
        phase = .lingering
        guard !isInputClosed else { return close() }
        linger()
        context?.close(mode: .output, promise: nil)
    }

    private func linger() {
        progress.expect(from: quota.unreadBytes, until: table.tick(inSeconds: limits.requestTimeoutSeconds))
        deadline = table.tick(inSeconds: ClientProgress.lingerSeconds)
    }

    func deadlinePassed() {
        if phase == .writing || !isWritable, progress.isEnough(unwrittenBytes) { return expectAnswersToBeTaken() }
        if phase == .reading, isWritable { return refuse(.timeout) }
        if phase == .lingering {
            switch progress.lingering(quota.unreadBytes, at: table.tick) {
            case .anew: return linger()
            case .on:
                deadline = table.tick(inSeconds: ClientProgress.lingerSeconds)
                return
            case .over: break
            }
        }
        if unread.since != .max { abort() } else { close() }
    }

    func close() {
        // The responses of this turn have not been written yet.
        writeAnswers()
        // With TLS, both sides send `close_notify`; further input from the client is ignored.
        phase = .lingering
        context?.close(promise: nil)
    }

    /// Closes the connection unless a request is in progress.
    func closeIfIdle() {
        if phase == .idle, input.readableBytes == 0 { end() }
    }
}
