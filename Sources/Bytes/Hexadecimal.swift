extension String {
    /// Bytes as lower-case hexadecimal digits.
    package init(hexadecimal octets: Span<UInt8>) {
        self = unsafe String(unsafeUninitializedCapacity: octets.count * 2) { digits in
            for index in octets.indices {
                let pair = hexadecimalDigits(UInt32(octets[index]))
                unsafe digits[2 * index] = UInt8(truncatingIfNeeded: pair)
                unsafe digits[2 * index + 1] = UInt8(truncatingIfNeeded: pair >> 8)
            }
            return octets.count * 2
        }
    }

    /// A number as 16 lower-case hexadecimal digits.
    package init(hexadecimal number: UInt64) {
        self = unsafe String(unsafeUninitializedCapacity: 16) { digits in
            unsafe UnsafeMutableRawBufferPointer(digits).storeHexadecimal(number, at: 0)
            return 16
        }
    }

    /// A 128-bit number as 32 lower-case hexadecimal digits.
    package init(hexadecimal high: UInt64, _ low: UInt64) {
        self = unsafe String(unsafeUninitializedCapacity: 32) { digits in
            unsafe UnsafeMutableRawBufferPointer(digits).storeHexadecimal(high, at: 0)
            unsafe UnsafeMutableRawBufferPointer(digits).storeHexadecimal(low, at: 16)
            return 32
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func storeHexadecimal(_ number: UInt64, at offset: Int) {
        let (high, low) = (UInt32(truncatingIfNeeded: number >> 32), UInt32(truncatingIfNeeded: number))
        unsafe storeBytes(of: hexadecimalDigits(high.byteSwapped).littleEndian, toByteOffset: offset, as: UInt64.self)
        unsafe storeBytes(
            of: hexadecimalDigits(low.byteSwapped).littleEndian, toByteOffset: offset + 8, as: UInt64.self)
    }
}

extension [UInt8] {
    /// The bytes of hexadecimal digits in either case; `nil` for an odd number of digits or other characters.
    package init?(hexadecimal digits: some StringProtocol) {
        self = []
        var rest = digits.utf8[...]
        while let digit = rest.popFirst() {
            guard let high = digit.hexadecimalValue, let low = rest.popFirst()?.hexadecimalValue else { return nil }
            append(high << 4 | low)
        }
    }
}

/// The eight hexadecimal digits of four bytes; the first digit is in the lowest byte. Converting a nonce's hash digit
/// by digit took 300 more instructions.
@inlinable @inline(__always) package func hexadecimalDigits(_ octets: UInt32) -> UInt64 {
    // Spread each byte over two, then keep half of it in each.
    var spread = UInt64(octets)
    spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff
    spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff
    let values = (spread >> 4 & 0x000f_000f_000f_000f) | (spread & 0x000f_000f_000f_000f) << 8
    let letters = (values &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    return values &+ 0x3030_3030_3030_3030 &+ letters &* UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
}
