private import Bytes

/// The cookies of a request (RFC 6265, section 4.2).
struct Cookies {
    /// In the order of the request. Spaces and tabs before `=` are not part of a name, as in section 5.2 and in many
    /// servers.
    private let pairs: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)]

    /// The largest number of cookies that one token may be in.
    static let maximumChunks = 8

    /// - Parameter values: of all fields `Cookie`.
    init(_ values: [ArraySlice<UInt8>]) {
        pairs = values.flatMap { $0.split(separator: UInt8(ascii: ";")) }.compactMap { pair in
            let pair = pair.drop(while: \.isBlank)
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            return (
                pair[..<equals].trimmingBlanks(), pair[(equals + 1)...].trimmingBlanks().withoutQuotationMarks()
            )
        }
    }

    /// The value of a cookie, without the quotation marks that may surround it.
    ///
    /// - Parameter isChunked: whether it may be divided among several cookies. Then both forms, or both separators, in
    ///   one request are an error: a part of an older token could be among them.
    /// - Returns: `nil` if there is no cookie with this name.
    /// - Throws: ``Denial/tokenUnreadable`` if there are two, or if a chunk is missing.
    func value(of name: String, isChunked: Bool) throws(Denial) -> ArraySlice<UInt8>? {
        let whole = try only(name)
        guard isChunked else { return whole }
        let (dotted, underscored) = (try chunks(name + "."), try chunks(name + "_"))
        switch (whole, dotted, underscored) {
        case (_, nil, nil): return whole
        case (nil, let chunks?, nil), (nil, nil, let chunks?): return chunks
        default: throw .tokenUnreadable
        }
    }

    private func only(_ name: String) throws(Denial) -> ArraySlice<UInt8>? {
        let found = pairs.filter { $0.name.elementsEqual(name.utf8) }
        guard found.count <= 1 else { throw .tokenUnreadable }
        return found.first?.value
    }

    /// The chunks with this prefix, joined in the order of their numbers; `nil` if there are none.
    private func chunks(_ prefix: String) throws(Denial) -> ArraySlice<UInt8>? {
        var values: [Int: ArraySlice<UInt8>] = [:]
        for (name, value) in pairs where name.starts(with: prefix.utf8) {
            // Others, such as `session.id`, are cookies of their own.
            guard let number = Int(decimal: name.dropFirst(prefix.utf8.count)) else { continue }
            guard number < Self.maximumChunks, values.updateValue(value, forKey: number) == nil else {
                throw .tokenUnreadable
            }
        }
        guard !values.isEmpty else { return nil }
        var whole: [UInt8] = []
        for number in 0..<values.count {
            guard let value = values[number] else { throw .tokenUnreadable }
            whole += value
        }
        return whole[...]
    }
}

extension Int {
    /// A number without a sign or superfluous zeros; `nil` for anything else. Large ones are all the same.
    fileprivate init?(decimal digits: ArraySlice<UInt8>) {
        guard let first = digits.first, digits.allSatisfy(\.isDigit), digits.count == 1 || first != UInt8(ascii: "0")
        else { return nil }
        self = digits.count > 3 ? .max : digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}

extension UInt8 {
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension ArraySlice<UInt8> {
    func trimmingBlanks() -> ArraySlice<UInt8> {
        var rest = self
        while let last = rest.last, last.isBlank { rest.removeLast() }
        return rest
    }

    fileprivate func withoutQuotationMarks() -> ArraySlice<UInt8> {
        let mark = UInt8(ascii: "\"")
        return count >= 2 && first == mark && last == mark ? dropFirst().dropLast() : self
    }
}
