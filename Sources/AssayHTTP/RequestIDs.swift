internal import NIOHTTP1
private import OpenSSL

/// Names requests. Confined to one event loop.
struct RequestIDs {
    /// SplitMix64: ids need to differ, not to be unguessable.
    private var state = UInt64.random(in: .min ... .max)

    /// The caller's own id, if it sent one of 1 to 128 visible ASCII characters; else a new one of 32 hexadecimal digits.
    mutating func id(for headers: HTTPHeaders?) -> String {
        if let given = headers?.first(name: "X-Request-Id"), (1...128).contains(given.utf8.count),
            given.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        {
            return given
        }
        let octets = [next(), next()].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        }
        return String(decoding: hexadecimal(octets), as: UTF8.self)
    }

    private mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
