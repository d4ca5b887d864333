// The only use of the C library in the modules of the verifier.
#if canImport(Darwin)
private import Darwin
#elseif canImport(Musl)
private import Musl
#else
private import Glibc
#endif

extension Span<UInt8> {
    /// The first index of a byte, from `start` on.
    ///
    /// Uses the C library, which tests 32 bytes at a time: a loop took 6,800 instructions to find the two dots of
    /// a token.
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

    /// Whether two texts are equal byte for byte.
    ///
    /// Inlinable: each claim's name is compared once, and calls took 2 % of a verification's instructions.
    @inlinable package func isExactly(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBytes { left in
            unsafe other.withUnsafeBytes { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return true }
                return unsafe hasSameBytes(left, right, count)
            }
        }
    }

    /// Whether two texts are equal except for the case of ASCII letters.
    package func isEqualIgnoringCase(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        // Most texts have the expected case.
        if isExactly(other) { return true }
        return indices.allSatisfy { self[$0].asciiLowercased == other[$0].asciiLowercased }
    }

    /// Whether all bytes are printable ASCII characters, including spaces.
    package var isPrintableASCII: Bool {
        guard count >= 8 else { return indices.allSatisfy { (0x20..<0x7f).contains(self[$0]) } }
        var index = 0
        while index &+ 8 < count {
            if word(at: index).hasUnprintableByte { return false }
            index &+= 8
        }
        return !word(at: count &- 8).hasUnprintableByte
    }

    /// The end of the run of ASCII letters and digits that starts at `start`.
    ///
    /// Tests sixteen bytes at a time. The last block overlaps bytes before it. A span that is shorter than a block is
    /// tested byte by byte.
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

    /// Sixteen bytes. The caller guarantees that they exist.
    @inlinable @inline(__always) package func block(at index: Int) -> SIMD16<Int8> {
        assert(index >= 0 && index + 16 <= count)
        return unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: SIMD16<Int8>.self)
    }

    /// Eight bytes. The caller guarantees that they exist.
    @inlinable @inline(__always) package func word(at index: Int) -> UInt64 {
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
    }
}

/// The C library's `memcmp`, which inlinable code can't name.
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

    /// The index of the first marked byte, from `start` on.
    @inlinable @inline(__always) package static func first(_ marks: SIMDMask<Self>, from start: Int) -> Int? {
        // Each byte has all bits set, or none.
        let halves = unsafe unsafeBitCast(marks, to: SIMD2<UInt64>.self)
        // A shift by more than 63 gives zero.
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

    /// Whether one of the eight bytes is a control character or not ASCII. Borrows and carries come only from such
    /// bytes.
    fileprivate var hasUnprintableByte: Bool {
        ((self &- Self.eachByte &* 0x20) | (self &+ Self.eachByte) | self) & Self.highBits != 0
    }
}
