internal import NIOCore

/// The configured server and the nodes that its redirections have named, with one connection to each. Without a
/// cluster, there is only the first. Confined to one event loop.
final class ValkeyCluster {
    private let home: ValkeyNode
    private let makeNode: (StoreAddress, @escaping (ValkeyNode.Change) -> Void) -> ValkeyNode
    private var others: [StoreAddress: Other] = [:]
    /// The slots of other nodes, learned from redirections.
    private var slots: [UInt16: StoreAddress] = [:]
    /// Counts uses, to find the least recently used node.
    private var uses = 0

    private struct Other {
        let node: ValkeyNode
        /// The number of its entries in ``slots``.
        var slots = 0
        var lastUse = 0
    }

    /// Maximum number of nodes besides the first. In a cluster with more primaries, connections are closed and
    /// reopened.
    static let maximumOthers = 64

    init(_ settings: ValkeySettings, on loop: any EventLoop, _ monitor: StoreMonitor) {
        home = ValkeyNode(settings.address, settings, on: loop, monitor, isPermanent: true) { _ in }
        makeNode = { ValkeyNode($0, settings, on: loop, monitor, isPermanent: false, onChange: $1) }
    }

    /// Whether a claim could be sent now.
    var isReachable: Bool { ready != nil }

    /// Why some claims or all can't be sent; `nil` if they can, as far as is known.
    var failure: StoreFailure? {
        let failures = nodes.compactMap(\.failure)
        // While another node answers, a failure of the network ends by a failover.
        return failures.first { $0.health != .unreachable } ?? (isReachable ? nil : failures.first)
    }

    /// The largest share of a node's memory in use; `nil` if none is known.
    var memoryUse: Double? { nodes.compactMap(\.memoryUse).max() }

    private var nodes: [ValkeyNode] { [home] + others.values.map(\.node) }

    /// A node that is ready: preferably the slot's, otherwise any, which will redirect.
    func readyNode(for slot: UInt16) -> ValkeyNode? {
        if let address = slots[slot], let node = others[address]?.node, node.connection != nil {
            use(address)
            return node
        }
        return ready
    }

    private var ready: ValkeyNode? {
        if home.connection != nil { return home }
        return others.values.first { $0.slots > 0 && $0.node.connection != nil }?.node
    }

    /// The node that a redirection names, created if it is not known.
    func node(at address: StoreAddress) -> ValkeyNode {
        if address == home.address { return home }
        if let known = others[address] {
            use(address)
            return known.node
        }
        if others.count >= Self.maximumOthers, let oldest = others.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            drop(oldest.key)
        }
        let node = makeNode(address) { [weak self] change in
            switch change {
            // It may have failed over. Another node will redirect to the new primary.
            case .failed: self?.forgetSlots(of: address)
            case .unused: self?.drop(address)
            }
        }
        others[address] = Other(node: node)
        use(address)
        return node
    }

    /// Records that a node now has a slot.
    func assign(_ slot: UInt16, to address: StoreAddress) {
        let before = slots[slot]
        guard before != address else { return }
        slots[slot] = others[address] == nil ? nil : address
        others[address]?.slots += 1
        guard let before else { return }
        others[before]?.slots -= 1
        // Its last slot has moved: it is leaving the cluster, or has become a replica.
        if others[before]?.slots == 0 { drop(before) }
    }

    func end() {
        home.end()
        for other in others.values { other.node.end() }
        others = [:]
        slots = [:]
    }

    private func use(_ address: StoreAddress) {
        uses += 1
        others[address]?.lastUse = uses
    }

    private func forgetSlots(of address: StoreAddress) {
        slots = slots.filter { $0.value != address }
        others[address]?.slots = 0
    }

    private func drop(_ address: StoreAddress) {
        forgetSlots(of: address)
        others.removeValue(forKey: address)?.node.retire()
    }
}

/// The slot of a key in a cluster, which determines its node.
///
/// See *Valkey cluster specification*, *Key distribution model* and *Hash tags*.
enum KeySlot {
    static let count: UInt16 = 16_384

    static func slot(of key: [UInt8]) -> UInt16 { checksum(of: hashed(key)) % count }

    /// The text in the first braces, unless it is empty; otherwise the whole key.
    private static func hashed(_ key: [UInt8]) -> ArraySlice<UInt8> {
        guard let open = key.firstIndex(of: UInt8(ascii: "{")),
            let close = key[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        else { return key[...] }
        return key[(open + 1)..<close]
    }

    /// CRC-16/XMODEM.
    private static func checksum(of octets: ArraySlice<UInt8>) -> UInt16 {
        octets.reduce(0) { checksum, octet in
            (0..<8).reduce(checksum ^ UInt16(octet) << 8) { value, _ in
                value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x1021
            }
        }
    }
}
