import Bytes
import Testing

@Suite struct FormEncodingTests {
    private func encoded(_ octets: [UInt8]) -> String {
        var form = FormWriter(reservingCapacity: 8)
        form.addEncoded(octets.span)
        return String(decoding: form.take(), as: UTF8.self)
    }

    @Test func `the example of RFC 6749, appendix B`() {
        #expect(encoded([0x20, 0x25, 0x26, 0x2b, 0xc2, 0xa3, 0xe2, 0x82, 0xac]) == "+%25%26%2B%C2%A3%E2%82%AC")
    }

    @Test func `letters, digits and four marks stay, all other octets are two digits`() {
        let bare = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._*".utf8)
        for octet in UInt8.min...UInt8.max where octet != 0x20 {
            let digits = String(octet, radix: 16, uppercase: true)
            let escaped = "%" + (digits.count == 1 ? "0" : "") + digits
            #expect(encoded([octet]) == (bare.contains(octet) ? String(UnicodeScalar(octet)) : escaped))
        }
    }

    @Test func `pairs are joined`() {
        var form = FormWriter(reservingCapacity: 100)
        form.add("grant_type", "authorization_code".utf8.span)
        form.add("code", "a=b&c".utf8.span)
        form.add("empty", "".utf8.span)
        #expect(String(decoding: form.take(), as: UTF8.self) == "grant_type=authorization_code&code=a%3Db%26c&empty=")
    }
}
