private import Bytes

extension Span<UInt8> {
    /// The end of the run of bytes that need no escaping in a JSON string: no control character, no quotation mark, no
    /// backslash and, unless `isText`, nothing beyond ASCII.
    ///
    /// It processes sixteen bytes at a time, and the last few one by one. Byte by byte, this was a seventh of a
    /// verification's cost apart from the signature.
    func endOfPlainRun(from start: Int, isText: Bool = false) -> Int {
        var index = start
        while index &+ 16 <= count {
            if let special = block(at: index).firstSpecialByte(isText: isText) { return index &+ special }
            index &+= 16
        }
        while index < count, self[index].isPlain || (isText && self[index] >= 0x80) { index += 1 }
        return index
    }

    /// Whether the whole UTF-8 text needs no escaping in a JSON string.
    ///
    /// The last bytes are tested together with some before them, because most texts are short: searching for their
    /// first special byte took 900 more instructions for an answer's strings.
    var isPlainText: Bool {
        switch count {
        case 16...:
            var index = 0
            while index &+ 16 < count {
                if block(at: index).firstSpecialByte(isText: true) != nil { return false }
                index &+= 16
            }
            return block(at: count &- 16).firstSpecialByte(isText: true) == nil
        case 8...: return !word(at: 0).hasSpecialByte && !word(at: count &- 8).hasSpecialByte
        case 4...:
            let first = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
            let last = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            return !(UInt64(first) << 32 | UInt64(last)).hasSpecialByte
        default: return endOfPlainRun(from: 0, isText: true) == count
        }
    }
}

extension SIMD16<Int8> {
    /// Constants are written as vectors: comparisons with a scalar were not vectorized.
    @inline(__always) fileprivate func firstSpecialByte(isText: Bool) -> Int? {
        let firstCharacter = Self(repeating: 0x20)
        var special = (self .== Self(repeating: 0x22)) .| (self .== Self(repeating: 0x5c))
        // Bytes beyond ASCII are negative as signed integers.
        special .|= isText ? (self .< firstCharacter) .& (self .>= Self(repeating: 0)) : self .< firstCharacter
        return Self.first(special, from: 0)
    }
}

extension UInt8 {
    fileprivate var isPlain: Bool {
        (0x20..<0x80).contains(self) && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\")
    }
}

extension UInt64 {
    /// Whether one of the eight bytes is a control character, a quotation mark or a backslash.
    fileprivate var hasSpecialByte: Bool {
        let quotes = self ^ (Self.eachByte &* 0x22)
        let backslashes = self ^ (Self.eachByte &* 0x5c)
        let controls = (self &- Self.eachByte &* 0x20) & ~self
        let zeros = ((quotes &- Self.eachByte) & ~quotes) | ((backslashes &- Self.eachByte) & ~backslashes)
        return (controls | zeros) & Self.highBits != 0
    }
}
