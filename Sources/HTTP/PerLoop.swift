package import NIOCore
package import NIOPosix

/// One value for each event loop of a group: created on its loop and used only there.
package struct PerLoop<Value>: Sendable {
    private let loops: [any EventLoop]
    private let values: [ObjectIdentifier: NIOLoopBound<Value>]

    /// Creates the values.
    ///
    /// - Throws: any error of `make`.
    package init(
        on group: MultiThreadedEventLoopGroup, _ make: @escaping @Sendable (any EventLoop) throws -> Value
    ) async throws {
        var values: [ObjectIdentifier: NIOLoopBound<Value>] = [:]
        loops = Array(group.makeIterator())
        for loop in loops {
            values[ObjectIdentifier(loop)] = try await loop.submit {
                NIOLoopBound(try make(loop), eventLoop: loop)
            }.get()
        }
        self.values = values
    }

    /// The value of the only event loop. Call it on that loop.
    package init(on loop: any EventLoop, _ value: Value) {
        loops = [loop]
        values = [ObjectIdentifier(loop): NIOLoopBound(value, eventLoop: loop)]
    }

    /// The value of one of the group's loops. Call it only on that loop.
    package subscript(loop: any EventLoop) -> Value {
        guard let bound = values[ObjectIdentifier(loop)] else { preconditionFailure("a loop of another group") }
        return bound.value
    }

    /// Calls a function with each value, on its loop.
    package func onEach<Result: Sendable>(
        _ body: @escaping @Sendable (Value) throws -> Result
    ) -> [EventLoopFuture<Result>] {
        loops.map { loop in loop.submit { try body(self[loop]) } }
    }
}
