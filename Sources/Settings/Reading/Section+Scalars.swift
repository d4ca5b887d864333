internal import YAML

/// Scalars, each with an optional default. A default is recorded as the value in effect.
extension Section {
    /// A scalar read by `read`.
    ///
    /// - Parameters:
    ///   - expected: what the value must be, for the error.
    ///   - words: the words it may be, to suggest the nearest.
    ///   - isSecret: whether the value must not appear in an error.
    func scalar<Value>(
        _ name: String, _ expected: String, words: [String] = [], isSecret: Bool = false, _ read: (String) -> Value?
    ) -> Value? {
        let source = source(name)
        let found: String
        switch source {
        case nil:
            record(name, nil, .standard)
            return nil
        case .variable(let variable, let text)?:
            if let value = read(text) {
                record(name, .scalar(text), .variable(variable))
                return value
            }
            found = FoundText.of(text, isSecret: isSecret) + Self.suggestion(text, words)
            reading.report(path + [name], line: nil, "\(variable) must be \(expected); found \(found)")
        case .node(let node)?:
            if let scalar = node.scalar, let value = read(scalar.string) {
                record(name, .scalar(scalar.string), .line(node.line))
                return value
            }
            found = FoundText.of(node, isSecret: isSecret) + Self.suggestion(node.scalar?.string ?? "", words)
            reading.report(path + [name], line: node.line, "\(name) must be \(expected); found \(found)")
        }
        return nil
    }

    static func suggestion(_ text: String, _ words: [String]) -> String {
        Suggestion.nearest(to: text, among: words).map { "; did you mean \($0)?" } ?? ""
    }

    /// Records a default as the value in effect.
    ///
    /// - Parameter shown: the default as the file would say it.
    /// - Returns: the default.
    @discardableResult
    func otherwise<Value>(
        _ name: String, _ value: Value, shown: String?, from origin: EffectiveSettings.Origin = .standard
    ) -> Value {
        record(name, shown.map { .scalar($0) }, origin)
        return value
    }

    func text(_ name: String) -> String? {
        scalar(name, "a text") { $0.isEmpty ? nil : $0 }
    }

    func text(_ name: String, default usual: String, from origin: EffectiveSettings.Origin = .standard) -> String {
        text(name) ?? otherwise(name, usual, shown: usual.isEmpty ? nil : usual, from: origin)
    }

    func bool(_ name: String) -> Bool? {
        scalar(name, "true or false", words: ["true", "false"]) { $0 == "true" ? true : $0 == "false" ? false : nil }
    }

    func bool(_ name: String, default usual: Bool, from origin: EffectiveSettings.Origin = .standard) -> Bool {
        bool(name) ?? otherwise(name, usual, shown: String(usual), from: origin)
    }

    func integer(_ name: String, in range: ClosedRange<Int>) -> Int? {
        scalar(name, "an integer from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func integer(_ name: String, in range: ClosedRange<Int>, default usual: Int) -> Int {
        integer(name, in: range) ?? otherwise(name, usual, shown: String(usual))
    }

    func seconds(_ name: String, in range: ClosedRange<Int64>) -> Int64? {
        scalar(name, "a duration such as 30s, 5m or 24h, \(range.lowerBound)s to \(range.upperBound)s") { text in
            Quantities.seconds(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func seconds(_ name: String, in range: ClosedRange<Int64>, default usual: Int64) -> Int64 {
        seconds(name, in: range) ?? otherwise(name, usual, shown: Quantities.text(seconds: usual))
    }

    func milliseconds(_ name: String, in range: ClosedRange<Int64>) -> Int64? {
        scalar(name, "a duration such as 250ms or 2s, \(range.lowerBound)ms to \(range.upperBound)ms") { text in
            Quantities.milliseconds(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func milliseconds(_ name: String, in range: ClosedRange<Int64>, default usual: Int64) -> Int64 {
        milliseconds(name, in: range) ?? otherwise(name, usual, shown: "\(usual)ms")
    }

    func bytes(_ name: String, in range: ClosedRange<Int>) -> Int? {
        scalar(name, "a size such as 64KiB or 4MiB, \(range.lowerBound) to \(range.upperBound) bytes") { text in
            Quantities.bytes(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func bytes(_ name: String, in range: ClosedRange<Int>, default usual: Int) -> Int {
        bytes(name, in: range) ?? otherwise(name, usual, shown: Quantities.text(bytes: usual))
    }
}
