internal import NIOCore

/// Chooses the sizes of receive buffers. The connection keeps a small one. Long requests get large ones, which it does
/// not keep.
///
/// NIO's default keeps up to four buffers per connection, which can grow to 64 KB, for as long as the connection lives.
/// A thousand idle connections that had each once sent a long request held up to 256 MB.
///
/// This type relies on two properties of `NIOPooledRecvBufferAllocator`, which calls it: a buffer is reused only if
/// ``nextBufferSize()`` is not `nil`, and with one message per read, only the first buffer of a connection is kept.
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
