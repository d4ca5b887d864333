package import NIOCore
private import Synchronization

/// Keeps a connection for the next exchange with the same server. Its owner closes it after the last one.
package final class KeptConnection: Sendable {
    private let state = Mutex(State())

    private struct State {
        var server = ""
        var destination: HTTPExchange.Destination?
        var connection: ClientConnection?
        var isClosed = false
    }

    package init() {}

    /// Where the connection to a server leads; `nil` if there is none yet. One to another server is closed.
    ///
    /// - Parameter server: identifies it, for example by its scheme, host and port.
    package func destination(of server: String) -> HTTPExchange.Destination? {
        let (destination, other) = state.withLock { state in
            if state.server == server { return (state.destination, nil as ClientConnection?) }
            defer { (state.server, state.destination, state.connection) = (server, nil, nil) }
            return (nil, state.connection)
        }
        other?.closeSoon()
        return destination
    }

    /// The connection, if another exchange can use it. If not, it is closed, before another one is opened. Called on its
    /// event loop.
    func reuse() -> ClientConnection? {
        guard let connection = state.withLock({ $0.connection }) else { return nil }
        if connection.isReusable { return connection }
        connection.close()
        return nil
    }

    /// Keeps a new connection.
    func keep(_ connection: ClientConnection, to destination: HTTPExchange.Destination) {
        let isClosed = state.withLock { state in
            (state.destination, state.connection) = (destination, connection)
            return state.isClosed
        }
        if isClosed { connection.closeSoon() }
    }

    /// Closes the connection, and those that are opened later. An exchange in progress ends as if the server had closed
    /// it.
    ///
    /// - Returns: succeeds once that has begun; `nil` if there is no connection.
    @discardableResult
    package func close() -> EventLoopFuture<Void>? {
        let connection = state.withLock { state in
            state.isClosed = true
            return state.connection
        }
        return connection?.closeSoon()
    }
}

extension ClientConnection {
    /// Closes the connection. May be called anywhere.
    @discardableResult
    fileprivate func closeSoon() -> EventLoopFuture<Void> { closed.eventLoop.submit { self.close() } }
}
