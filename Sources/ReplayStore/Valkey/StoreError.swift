/// An error reply of a server, by its first word.
enum StoreError: Equatable {
    /// Another node has the slot permanently.
    case moved(slot: UInt16, to: String)
    /// Another node has the key while its slot is being migrated.
    case ask(to: String)
    /// The node has become a replica.
    case readOnly
    /// The command was not executed; the error's code says so.
    case refused(String)
    /// It is unknown whether the command was executed.
    case other(String)

    /// Errors that servers detect before they execute a command.
    private static let refusals: Set = [
        "OOM", "MISCONF", "NOREPLICAS", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "NOAUTH", "NOPERM",
    ]

    init(_ text: [UInt8]) {
        let words = String(decoding: text, as: UTF8.self).split(separator: " ", maxSplits: 3)
        let first = words.first.map(String.init) ?? ""
        self =
            switch (first, words.count) {
            case ("MOVED", 3):
                if let slot = UInt16(words[1]), slot < KeySlot.count {
                    .moved(slot: slot, to: String(words[2]))
                } else {
                    .other(first)
                }
            case ("ASK", 3): .ask(to: String(words[2]))
            case ("READONLY", _): .readOnly
            case _ where Self.refusals.contains(first): .refused(first)
            default: .other(first)
            }
    }

    /// For the log: only the first word, if it looks like an error code.
    var shown: String {
        switch self {
        case .moved: "MOVED"
        case .ask: "ASK"
        case .readOnly: "READONLY"
        case .refused(let word), .other(let word):
            (1...32).contains(word.count) && word.allSatisfy { $0.isASCII && $0.isUppercase } ? word : "an error"
        }
    }
}
