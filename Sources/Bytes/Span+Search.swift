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
    ///
    /// Inlinable: each claim's name is compared once, and as a call that took two in a hundred of a verification's instructions.
    @inlinable package func isExactly(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBytes { left in
            unsafe other.withUnsafeBytes { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return true }
                return unsafe hasSameBytes(left, right, count)
            }
        }
    }

    /// Whether each byte is a printable character of ASCII, a space among them.
    package var isPrintableASCII: Bool {
        guard count >= 8 else { return indices.allSatisfy { (0x20..<0x7f).contains(self[$0]) } }
        var index = 0
        while index &+ 8 < count {
            if word(at: index).hasUnprintableByte { return false }
            index &+= 8
        }
        return !word(at: count &- 8).hasUnprintableByte
    }

    /// Where the run of letters and digits of ASCII ends.
    ///
    /// Sixteen at a time, the last ones together with some before `start`, if there are so many.
    package func endOfAlphanumerics(from start: Int) -> Int {
        var index = start
        if count >= 16 {
            while index < count {
                let place = Swift.min(index, count &- 16)
                if let other = block(at: place).firstOtherThanAlphanumeric(from: index &- place) {
                    return place &+ other
                }
                index = place &+ 16
            }
        }
        while index < count, self[index].isLetterOrDigit { index += 1 }
        return index
    }

    /// Sixteen bytes, which the caller knows to be there.
    @inlinable @inline(__always) package func block(at index: Int) -> SIMD16<Int8> {
        assert(index >= 0 && index + 16 <= count)
        return unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: SIMD16<Int8>.self)
    }

    /// Eight bytes, which the caller knows to be there.
    @inlinable @inline(__always) package func word(at index: Int) -> UInt64 {
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
    }
}

/// The C library's `memcmp`, which code that is inlined elsewhere can't name.
@usableFromInline func hasSameBytes(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
    unsafe memcmp(left, right, count) == 0
}

extension SIMD16<Int8> {
    @inline(__always) fileprivate func firstOtherThanAlphanumeric(from start: Int) -> Int? {
        let lowercase = self | Self(repeating: 0x20)
        let isLetter = (lowercase .>= Self(repeating: 0x61)) .& (lowercase .<= Self(repeating: 0x7a))
        let isDigit = (self .>= Self(repeating: 0x30)) .& (self .<= Self(repeating: 0x39))
        return Self.first(.!(isLetter .| isDigit), from: start)
    }

    /// The first byte that is marked, at `start` or behind it.
    @inlinable @inline(__always) package static func first(_ marks: SIMDMask<Self>, from start: Int) -> Int? {
        // Each byte is all ones or all zeros.
        let halves = unsafe unsafeBitCast(marks, to: SIMD2<UInt64>.self)
        // A shift by more than 63 leaves nothing.
        let low = UInt64(littleEndian: halves.x) & (.max << UInt64(start &* 8))
        let high = UInt64(littleEndian: halves.y) & (start < 8 ? .max : .max << UInt64(start &* 8 &- 64))
        guard low | high != 0 else { return nil }
        return low != 0 ? low.trailingZeroBitCount / 8 : 8 + high.trailingZeroBitCount / 8
    }
}

extension UInt64 {
    /// The highest bit of each byte.
    @inlinable package static var highBits: UInt64 { 0x8080_8080_8080_8080 }
    /// The lowest bit of each byte.
    @inlinable package static var eachByte: UInt64 { 0x0101_0101_0101_0101 }

    /// Whether one of the eight bytes is a control character or beyond ASCII. What is borrowed or carried comes from such a
    /// byte itself.
    fileprivate var hasUnprintableByte: Bool {
        ((self &- Self.eachByte &* 0x20) | (self &+ Self.eachByte) | self) & Self.highBits != 0
    }
}
