import OpenSSL
import Testing
import TestSupport

@Suite struct SecretBytesTests {
    @Test(arguments: [
        ("secret", "secret"), ("secret\n", "secret"), ("secret\r\n", "secret"), ("secret\n\n", "secret\n"),
        ("s", "s"), ("s\n", "s"), ("\r", "\r"), (" \n", " "),
    ])
    func `a line is kept without its end`(line: String, kept: String) {
        let secret = SecretBytes(line: line.utf8.span)
        #expect(secret?.withBytes { octets in text(octets.indices.map { octets[$0] }) } == kept)
        #expect(secret?.description == "(\(kept.utf8.count) secret octets)")
    }

    @Test(arguments: ["", "\n", "\r\n"])
    func `an empty line is no secret`(line: String) {
        #expect(SecretBytes(line: line.utf8.span) == nil)
    }
}
