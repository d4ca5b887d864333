import Glibc
import IDToken
import JOSE

/// Verifies valid and invalid tokens, reads valid and invalid key sets, and checks for leaks: after many rounds,
/// OpenSSL and jansson must hold exactly as many blocks as after a few, and the heap must hardly have grown.
///
///     Leaks [VERIFICATIONS READINGS]
///
/// Writes its findings as a JSON object, and fails if anything grew.
@main enum Leaks {
    static func main() throws {
        Allocations.beginCounting()
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let (verifications, readings) = arguments.count == 2 ? (arguments[0], arguments[1]) : (100_000, 1000)

        // How many headers a verifier remembers. It forgets half of them at once, so after as many more it has as many again.
        let remembered = 16_384

        let tokens = try Tokens()
        let verifier = try IDTokenVerifier()
        let keys = try JWKSet(tokens.keySet)
        let keySets = KeySets(tokens.keySet)
        let results = [
            growth("verifications", verifications) { tokens.verify(count: $0, verifier, with: keys) },
            try growth("headers", remembered, after: remembered) { try tokens.verifyNewHeaders(count: $0, verifier, with: keys) },
            try growth("key_sets", readings) { try keySets.read(count: $0, tokens) },
        ]
        print("{" + results.map(\.json).joined(separator: ",") + "}")
        if results.contains(where: \.isLeak) { exit(1) }
    }

    /// The growth after many rounds, compared with a few.
    private static func growth(
        _ name: String, _ count: Int, after few: Int = 0, _ work: (Int) throws -> Void
    ) rethrows -> Growth {
        try work(max(few, count / 100, 100))
        let before = Allocations.now
        try work(count)
        return Growth(name: name, count: count, before: before, after: .now)
    }
}

private struct Growth {
    let name: String
    let count: Int
    let before: Allocations
    let after: Allocations

    private var openSSL: Int { after.openSSLBlocks - before.openSSLBlocks }
    private var jansson: Int { after.janssonBlocks - before.janssonBlocks }
    private var heap: Int { after.heapBytes - before.heapBytes }

    /// Swift's heap may grow by a page or two that the runtime keeps, but not by a byte per round.
    var isLeak: Bool { openSSL != 0 || jansson != 0 || heap >= max(count / 4, 16_384) }

    var json: String {
        #""\#(name)":{"count":\#(count),"openssl_blocks_before":\#(before.openSSLBlocks),"#
            + #""openssl_blocks_growth":\#(openSSL),"jansson_blocks_growth":\#(jansson),"heap_bytes_growth":\#(heap)}"#
    }
}
