private import Glibc
internal import NIOCore

/// Inspects a socket directly, because the event loop notices new input only in its next turn.
enum SocketProbe {
    /// Whether an idle connection is still open and nothing waits to be read. Otherwise its server has closed it, is
    /// about to, or sent unsolicited data. Called on the channel's event loop; reads nothing.
    static func isQuiet(_ channel: any Channel) -> Bool {
        do {
            let isQuiet = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable {
                (socket: NIOBSDSocket.Handle) in
                var octet: UInt8 = 0
                let count = unsafe recv(socket, &octet, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
                return count < 0 && errno == EAGAIN
            }
            // A channel without a socket has nothing to inspect.
            return isQuiet ?? true
        } catch {
            return false
        }
    }
}
