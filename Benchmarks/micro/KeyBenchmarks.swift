import JOSE

/// Key sets: parsed once per fetch, searched once per token.
let keyBenchmarks =
    [
        Benchmark("jwk-set") {
            // About as many keys as Apple and Google publish, of the same type.
            let json = try Fixtures().keySet(["RS256", "RS384", "RS512"])
            return { try JWKSet(json).keys.count == 3 }
        }
    ] + [1, 10, 1000].map(selection)

/// Looks up a `kid` in the middle of a set.
private func selection(among count: Int) -> Benchmark {
    Benchmark("select-\(count)") {
        let keys = try JWKSet(try Fixtures().keySet(count: count))
        let keyID = String(count / 2)
        return { keys.candidates(keyID: keyID).count == 1 }
    }
}
