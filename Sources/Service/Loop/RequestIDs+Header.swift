private import Bytes
internal import HTTPServer
internal import Verification

extension RequestIDs {
    /// The caller's ID if it sent exactly one, with 1 to 128 visible ASCII characters; otherwise a new one.
    mutating func id(for fields: HTTPFields?) -> String {
        if let given = fields?.only("X-Request-Id"), (1...128).contains(given.count),
            given.bytes.allSatisfy(\.isVisibleASCII)
        {
            return given.string
        }
        return makeID()
    }
}
