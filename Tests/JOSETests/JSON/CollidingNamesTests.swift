import Bytes
@testable import JOSE
import Testing
import TestSupport

/// Member names with the same hash. An attacker can compute collisions, so they must cost only time, and not much of
/// it.
@Suite struct CollidingNamesTests {
    /// 2ⁿ names with the same hash: n pairs of eight letters, both of which lead from one state to the same next state.
    private static func names(pairs: Int) -> [String] {
        var generator = SplitMix64(seed: 1)
        var names = [Array("a member".utf8)]
        for _ in 0..<pairs {
            let first = names[0]
            let state = nameHash(first.span, from: nameHashBasis)
            var seen: [UInt32: UInt64] = [:]
            while true {
                let block = generator.next() & 0xffff_ffff
                let word = (0..<8 as Range<UInt64>).reversed().reduce(0) {
                    $0 << 8 | UInt64(Self.letter($1, of: block))
                }
                let hash = mixed(state, UInt64(littleEndian: word))
                guard let twin = seen.updateValue(block, forKey: hash), twin != block else { continue }
                names = names.flatMap { name in
                    [block, twin].map { block in name + (0..<8 as Range<UInt64>).map { Self.letter($0, of: block) } }
                }
                break
            }
        }
        return names.map { text($0) }
    }

    /// One of sixteen letters, selected by four bits.
    private static func letter(_ index: UInt64, of block: UInt64) -> UInt8 {
        UInt8(ascii: "a") + UInt8(truncatingIfNeeded: block >> (index * 4) & 15)
    }

    private static let names = names(pairs: 8)

    private func object(_ names: some Sequence<String>) -> [UInt8] {
        Array(("{" + names.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ",") + "}").utf8)
    }

    @Test func `they are told apart`() throws {
        try #require(Set(Self.names.map { nameHash(Array($0.utf8).span, from: nameHashBasis) }).count == 1)
        try #require(Set(Self.names).count == 256)
        let object = try JSONObject(object(Self.names))
        for (index, name) in Self.names.enumerated() { #expect(object[JSONName(name)]?.integer == Int64(index)) }
        let (first, second) = (Self.names[0], Self.names[1])
        let one = try JSONObject(self.object([first]))
        #expect(one[JSONName(second)] == nil)
        #expect(!one.hasOnly([JSONName(second)]))
        #expect(one.hasOnly([JSONName(second), JSONName(first)]))
    }

    @Test func `a duplicate among them is found`() {
        for count in [2, 24, 25, 256] {
            let names = Self.names.prefix(count)
            #expect(Reader.inPlace.error(object(names)) == nil)
            #expect(Reader.inPlace.error(object(names + [names[count / 2]])) == .duplicateMember)
        }
    }

    @Test func `eight times as many cost some eight times as much`() throws {
        let (few, many) = (object(Self.names.prefix(32)), object(Self.names))
        let cost = (
            few: try threadNanoseconds { _ = try JSONObject(few) },
            many: try threadNanoseconds { _ = try JSONObject(many) }
        )
        // Sorting them costs thirteen times as much; comparing all pairs, sixty-four times.
        #expect(cost.many < cost.few * 30, "\(cost)")
    }
}
