import JOSE

/// Key sets: read once a fetch, looked into once a token.
let keyBenchmarks =
    [
        Benchmark("jwk-set") {
            // As many as Apple and Google publish, and of their kind.
            let json = try Fixtures().keySet(["RS256", "RS384", "RS512"])
            return { try JWKSet(json).keys.count == 3 }
        }
    ] + [1, 10, 1000].map(selection)

/// The key of a `kid` that is in the middle of a set.
private func selection(among count: Int) -> Benchmark {
    Benchmark("select-\(count)") {
        let keys = try JWKSet(try Fixtures().keySet(count: count))
        let keyID = String(count / 2)
        return { keys.candidates(keyID: keyID).count == 1 }
    }
}
