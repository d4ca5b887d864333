/// An error of a server, by its first word.
enum StoreError: Equatable {
    /// Another node has the slot, for good.
    case moved(slot: UInt16, to: String)
    /// Another node has the slot's key, while the slot is moving.
    case ask(to: String)
    /// The node has become a replica.
    case readOnly
    /// The command was not carried out, by a word that says so.
    case refused(String)
    /// Nobody knows whether the command was carried out.
    case other(String)

    /// Errors that are found before a command is carried out.
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

    /// For the log: the first word alone, if it is a word.
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
