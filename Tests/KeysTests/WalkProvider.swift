import Bytes
import JOSE
import Keys
import TestSupport

/// A key set that the simulated provider answers with.
struct WalkAnswer {
    let keys: JWKSet
    /// A unique name for each key.
    let names: Set<String>
    let usableNames: Set<String>

    init(_ keys: JWKSet) {
        self.keys = keys
        names = Set(keys.keys.map(Self.name))
        usableNames = Set(keys.keys.filter(\.isUsable).map(Self.name))
    }

    static func name(_ key: JWK) -> String { "\(key.keyID ?? "-") \(key.thumbprint)" }
}

/// All possible sets, each decoded once.
final class WalkKeySets {
    /// A few keys, so that they come and go repeatedly: each of four `kid`s has one key, another or both, sometimes
    /// unusable for signatures; and there are two keys without a `kid`.
    static let places: [[[JSONTree]]] = [
        [[KeySets.key("a")], [KeySets.key("a", .otherP256)]],
        [[KeySets.key("b")], [KeySets.key("b", .otherP256)], [KeySets.key("b", .rsa), KeySets.key("b")]],
        [[KeySets.key("c")], [TestKey.p256.jwk(["kid": .string("c"), "use": .string("enc")])]],
        [[KeySets.key("d")], [TestKey.otherP256.jwk(["kid": .string("d"), "use": .string("enc")])]],
        [[KeySets.key(nil, .p384)]], [[KeySets.key(nil, .ed25519)]],
    ]

    private var decoded: [[Int]: WalkAnswer?] = [:]

    /// - Parameter choice: for each place, the index of its entries in the set; 0: none.
    /// - Returns: `nil` for a set that can't be used.
    func answer(_ choice: [Int]) -> WalkAnswer? {
        if let known = decoded[choice] { return known }
        let keys = zip(Self.places, choice).flatMap { $1 == 0 ? [] : $0[$1 - 1] }
        let answer = (try? JWKSet(jwkSet(keys))).map(WalkAnswer.init)
        decoded[choice] = .some(answer)
        return answer
    }
}

/// A provider that rotates its keys.
struct WalkProvider {
    private let sets: WalkKeySets
    private var choice: [Int]

    init(_ sets: WalkKeySets, _ random: inout SplitMix64) {
        self.sets = sets
        choice = WalkKeySets.places.map { Int.random(in: 0...$0.count, using: &random) }
    }

    /// Removes, adds or replaces one of the keys.
    mutating func rotate(_ random: inout SplitMix64) {
        let place = WalkKeySets.places.indices.randomElement(using: &random)!
        choice[place] = Int.random(in: 0...WalkKeySets.places[place].count, using: &random)
    }

    /// The current keys.
    func answer() -> WalkAnswer? { sets.answer(choice) }

    /// Part of the keys, as a lagging node of the provider would have them.
    func thinAnswer(_ random: inout SplitMix64) -> WalkAnswer? {
        sets.answer(choice.map { Int.random(in: 0..<3, using: &random) == 0 ? 0 : $0 })
    }

    /// A random set.
    func anyAnswer(_ random: inout SplitMix64) -> WalkAnswer? { WalkProvider(sets, &random).answer() }
}
