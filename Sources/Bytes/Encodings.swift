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

/// Decodes percent-encoded text; `nil` if a `%` is not followed by two hexadecimal digits (RFC 3986, section 2.1).
package func percentDecoded(_ text: some StringProtocol) -> [UInt8]? {
    let encoded = Array(text.utf8)
    guard var percent = encoded.span.firstIndex(of: UInt8(ascii: "%")) else { return encoded }
    // In place: what is decoded is never longer. Slices of an array took half as long again.
    var octets = encoded
    var (start, length) = (0, 0)
    while percent < encoded.count {
        guard percent + 2 < encoded.count, let high = encoded[percent + 1].hexadecimalValue,
            let low = encoded[percent + 2].hexadecimalValue
        else { return nil }
        octets.moveDown(start..<percent, to: length)
        length += percent - start
        octets[length] = high << 4 | low
        length += 1
        start = percent + 3
        percent = encoded.span.firstIndex(of: UInt8(ascii: "%"), from: start) ?? encoded.count
    }
    octets.moveDown(start..<encoded.count, to: length)
    octets.removeLast(start - length)
    return octets
}

extension [UInt8] {
    /// Moves a range to an index at or before its beginning.
    fileprivate mutating func moveDown(_ range: Range<Int>, to index: Int) {
        precondition(index >= 0 && index <= range.lowerBound && range.upperBound <= count)
        unsafe withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            unsafe (base + index).copyMemory(from: base + range.lowerBound, byteCount: range.count)
        }
    }
}

/// Percent-encodes every octet of UTF-8 that is not kept: by default, all but RFC 3986's unreserved characters.
package func percentEncoded(_ text: String, keeping isKept: (UInt8) -> Bool = { $0.isUnreserved }) -> String {
    // Most texts need no encoding, and then no copy.
    guard !text.utf8.allSatisfy(isKept) else { return text }
    var octets: [UInt8] = []
    octets.reserveCapacity(3 * text.utf8.count)
    for octet in text.utf8 {
        if isKept(octet) {
            octets.append(octet)
        } else {
            octets.append(UInt8(ascii: "%"))
            octets.append(contentsOf: String(hexadecimal: [octet].span).uppercased().utf8)
        }
    }
    return String(decoding: octets, as: UTF8.self)
}

/// Writes `application/x-www-form-urlencoded` (RFC 6749, appendix B).
///
/// Its memory is reserved once, because a reallocation would leave a copy of a secret behind.
package struct FormWriter: ~Copyable {
    private var bytes: [UInt8] = []

    /// - Parameter capacity: at least the length of all names, three times that of values and of names that need encoding,
    ///   and two for each pair.
    package init(reservingCapacity capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Adds a pair, both encoded.
    package mutating func add(_ name: StaticString, _ value: Span<UInt8>) {
        name.withUTF8Buffer { unsafe add($0.span, value) }
    }

    /// Adds a pair, both encoded.
    package mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        addEncoded(name)
        bytes.append(UInt8(ascii: "="))
        addEncoded(value)
    }

    /// Encodes text, and adds it without a name.
    package mutating func addEncoded(_ text: Span<UInt8>) {
        for index in text.indices {
            let octet = text[index]
            switch octet {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "*"):
                bytes.append(octet)
            case UInt8(ascii: " "): bytes.append(UInt8(ascii: "+"))
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(Self.digit(octet >> 4))
                bytes.append(Self.digit(octet & 15))
            }
        }
    }

    /// Adds a byte unencoded.
    package mutating func addRaw(_ octet: UInt8) { bytes.append(octet) }

    /// Returns what was written. The caller overwrites it if it is secret.
    package consuming func take() -> [UInt8] { bytes }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}
