internal import Bytes
internal import HTTP
internal import NIOCore

/// An issuer whose keys are in use, or being fetched. Used on the pool's event loop only.
final class PooledIssuer: Sendable {
    let name: ExactString
    let store: KeyStore
    let uses: IssuerUses
    /// Completes when keys on disk, if any, have been read.
    let loaded: EventLoopFuture<Void>
    private let state: NIOLoopBoundBox<State>

    private struct State {
        var waiting = 0
        var hasKeys = false
        var isLoading = true
    }

    init(_ name: ExactString, _ store: KeyStore, _ uses: IssuerUses, loaded: EventLoopFuture<Void>) {
        self.name = name
        self.store = store
        self.uses = uses
        self.loaded = loaded
        state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: store.loop)
    }

    /// The number of requests that wait for its keys.
    var waiting: Int {
        get { state.value.waiting }
        set { state.value.waiting = newValue }
    }

    var hasKeys: Bool {
        get { state.value.hasKeys }
        set { state.value.hasKeys = newValue }
    }

    /// Whether its first request has not yet reached the store, because the disk is read before.
    var isLoading: Bool {
        get { state.value.isLoading }
        set { state.value.isLoading = newValue }
    }

    var standing: IssuerRanking.Standing {
        IssuerRanking.Standing(arrivedAt: uses.arrivedAt, usedAt: uses.provenAt, isAwaited: waiting > 0)
    }
}

/// The event loops that have an issuer's keys, and when each last used them.
final class IssuerUses: Sendable {
    private let state: NIOLoopBoundBox<State>

    private struct State {
        var arrivedAt: MonotonicTime
        var readers: [(id: IssuerPool.ReaderID, use: IssuerUse)] = []
    }

    init(arrivedAt: MonotonicTime, on loop: any EventLoop) {
        state = NIOLoopBoundBox.makeBoxSendingValue(State(arrivedAt: arrivedAt), eventLoop: loop)
    }

    /// When its keys arrived; before that, when they were first needed.
    var arrivedAt: MonotonicTime {
        get { state.value.arrivedAt }
        set { state.value.arrivedAt = newValue }
    }

    var readers: [IssuerPool.ReaderID] { state.value.readers.map(\.id) }

    subscript(reader: IssuerPool.ReaderID) -> IssuerUse? { state.value.readers.first { $0.id == reader }?.use }

    /// - Returns: whether it is new.
    func add(_ reader: IssuerPool.ReaderID) -> Bool {
        guard self[reader] == nil else { return false }
        state.value.readers.append((reader, IssuerUse()))
        return true
    }

    /// When a signature last held on any loop; `nil` if none has.
    var provenAt: MonotonicTime? { state.value.readers.compactMap(\.use.time).max() }

    var lastUse: MonotonicTime { max(provenAt ?? arrivedAt, arrivedAt) }
}
