private import Bytes

/// A value that a preset needs from the relying party.
public struct PresetParameter: Sendable {
    /// The name in the settings.
    public let name: String
    /// A description that completes the sentence "must be …".
    public let meaning: String
    /// Stands in for a value that is not known.
    public let placeholder: String
    public let isOptional: Bool
    /// What is wrong with a value that people are known to write; `nil`: nothing is known.
    public let advice: @Sendable (String) -> String?
    private let isWellFormed: @Sendable (String) -> Bool

    init(
        _ name: String, _ meaning: String, placeholder: String? = nil, isOptional: Bool = false,
        advice: @escaping @Sendable (String) -> String? = { _ in nil },
        isWellFormed: @escaping @Sendable (String) -> Bool
    ) {
        self.name = name
        self.meaning = meaning
        self.placeholder = placeholder ?? "<\(name)>"
        self.isOptional = isOptional
        self.advice = advice
        self.isWellFormed = isWellFormed
    }

    /// Whether a value has the right form.
    public func accepts(_ argument: String) -> Bool { isWellFormed(argument) }

    /// The issuer itself, for self-hosted software.
    ///
    /// - Parameter form: the form of such an issuer.
    static func issuer(_ form: String) -> PresetParameter {
        PresetParameter("issuer", "the issuer exactly as in its tokens, such as \(form)", placeholder: form) {
            !$0.isEmpty
        }
    }

    static func host(_ meaning: String, placeholder: String? = nil) -> PresetParameter {
        PresetParameter("domain", meaning, placeholder: placeholder, advice: adviceOnHost, isWellFormed: isHost)
    }

    /// A name that consists of letters, digits, hyphens and underscores.
    static func word(
        _ name: String, _ meaning: String, placeholder: String? = nil, isOptional: Bool = false
    ) -> PresetParameter {
        PresetParameter(name, meaning, placeholder: placeholder, isOptional: isOptional, isWellFormed: isWord)
    }

    static func isWord(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }

    /// For a URL in a host's place.
    @Sendable private static func adviceOnHost(_ text: String) -> String? {
        guard let scheme = text.firstRange(of: "://") else { return nil }
        let host = String(text[scheme.upperBound...].prefix { $0 != "/" })
        return isHost(host) ? "write \(host)" : nil
    }

    /// A host name with at least two labels and an optional port.
    @Sendable static func isHost(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let name = parts.first, parts.count <= 2, parts.dropFirst().allSatisfy({ UInt16($0) != nil }) else {
            return false
        }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count)
                    && label.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
            }
    }
}

/// A relying party's values for a preset's parameters.
public struct PresetArguments: Sendable, ExpressibleByDictionaryLiteral {
    private var values: [String: String] = [:]

    public init() {}

    public init(dictionaryLiteral elements: (String, String)...) {
        values = Dictionary(elements, uniquingKeysWith: { $1 })
    }

    /// The value given for a parameter.
    public subscript(name: String) -> String? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// The value given for a parameter, or its placeholder.
    subscript(parameter: PresetParameter) -> String { values[parameter.name] ?? parameter.placeholder }
}
