private import Glibc

extension Span<UInt8> {
    /// Where a byte first stands, at `start` or behind it.
    ///
    /// By the C library, which looks at 32 at a time: finding the two full stops of a token took 6,800 instructions as a loop.
    package func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        guard start < count else { return nil }
        return unsafe withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let found = unsafe memchr(base + start, CInt(byte), count - start)
            else {
                return nil
            }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// Whether two texts are the same, byte for byte.
    package func isExactly(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBytes { left in
            unsafe other.withUnsafeBytes { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return true }
                return unsafe memcmp(left, right, count) == 0
            }
        }
    }

    /// Where the run of bytes ends that stand for themselves in a JSON text's string: no control character, no quotation
    /// mark, no backslash, and nothing beyond ASCII unless that `isText`.
    ///
    /// Sixteen at a time, as long as none of them is special, which takes one instruction a byte; then eight at a time, and
    /// the last few one by one. One by one throughout, this was a seventh of all that a verification costs beside the
    /// signature.
    func endOfPlainRun(from start: Int, isText: Bool = false) -> Int {
        var index = start
        while index + 16 <= count {
            let block = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: SIMD16<Int8>.self)
            if block.hasSpecialByte(isText: isText) { break }
            index += 16
        }
        while index + 8 <= count {
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            let special = UInt64(littleEndian: word).specialBytes(isText: isText)
            if special != 0 { return index + special.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, self[index].isPlain || (isText && self[index] >= 0x80) { index += 1 }
        return index
    }
}

extension SIMD16<Int8> {
    /// Constants are written as vectors: compared with a number, each byte was taken by itself.
    @inline(__always) fileprivate func hasSpecialByte(isText: Bool) -> Bool {
        let firstCharacter = Self(repeating: 0x20)
        let signs = (self .== Self(repeating: 0x22)) .| (self .== Self(repeating: 0x5c))
        // Beyond ASCII, a byte is negative where it has a sign.
        if isText { return any(signs .| ((self .< firstCharacter) .& (self .>= Self(repeating: 0)))) }
        return any(signs .| (self .< firstCharacter))
    }
}

extension UInt8 {
    fileprivate var isPlain: Bool {
        (0x20..<0x80).contains(self) && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\")
    }
}

extension UInt64 {
    fileprivate static var highBits: UInt64 { 0x8080_8080_8080_8080 }
    fileprivate static var eachByte: UInt64 { 0x0101_0101_0101_0101 }

    /// The high bit of each of the eight bytes that is a control character, a quotation mark, a backslash, or beyond ASCII
    /// where this is no text; right up to the first one, which is all that is asked for: what is borrowed there spoils those
    /// above.
    fileprivate func specialBytes(isText: Bool) -> UInt64 {
        let quotes = self ^ (Self.eachByte &* 0x22)
        let backslashes = self ^ (Self.eachByte &* 0x5c)
        let controls = (self &- Self.eachByte &* 0x20) & ~self
        let zeros = ((quotes &- Self.eachByte) & ~quotes) | ((backslashes &- Self.eachByte) & ~backslashes)
        return (controls | zeros | (isText ? 0 : self)) & Self.highBits
    }
}
