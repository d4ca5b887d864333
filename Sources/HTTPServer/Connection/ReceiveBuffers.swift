internal import NIOCore

/// Sizes of the buffers that a connection is read into: a small one that the connection keeps, and while requests are long,
/// large ones that it does not.
///
/// NIO's own choice grows the buffer that it keeps to 64 KB for as long as the connection lives, and reads into up to four.
/// A thousand idle connections that each once sent a long request held up to 256 MB this way.
///
/// Of `NIOPooledRecvBufferAllocator`, which asks this, it relies on two things: a buffer is used again only if
/// ``nextBufferSize()`` is not `nil`, and with one message a read only the first buffer of a connection is kept.
struct ReceiveBuffers: RecvByteBufferAllocator {
    private static let usual = 2048
    private static let large = 32 * 1024
    private var isLarge = false

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        allocator.buffer(capacity: isLarge ? Self.large : Self.usual)
    }

    func nextBufferSize() -> Int? { isLarge ? nil : Self.usual }

    mutating func record(actualReadBytes: Int) -> Bool {
        isLarge = actualReadBytes >= Self.usual
        return isLarge
    }
}
