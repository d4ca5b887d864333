import Bytes
import HTTP
import Testing
import TestSupport

@Suite struct HTTPDateTests {
    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
            (1_704_067_199, "Sun, 31 Dec 2023 23:59:59 GMT"),
            (1_704_067_200, "Mon, 01 Jan 2024 00:00:00 GMT"),
            (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
            (2_147_483_647, "Tue, 19 Jan 2038 03:14:07 GMT"),
            (2_147_483_648, "Tue, 19 Jan 2038 03:14:08 GMT"),
            (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (13_574_563_200, "Tue, 29 Feb 2400 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] as [(Int64, String)])
    func `known moments are written and read`(seconds: Int64, text: String) {
        #expect(HTTPDate.text(unixSeconds: seconds) == text)
        #expect(HTTPDate.seconds(from: text) == seconds)
    }

    @Test func `every day from 1970 to 2500 comes back as it was, and follows the one before`() {
        let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        var mismatches = 0
        for day in 0..<Int64(193_600) {
            let seconds = day * 86400 + day % 86400
            let text = HTTPDate.text(unixSeconds: seconds)
            if HTTPDate.seconds(from: text) != seconds || !text.hasPrefix(names[Int(day % 7)]) { mismatches += 1 }
        }
        #expect(mismatches == 0)
    }

    @Test func `random moments come back as they were`() {
        var generator = SplitMix64(seed: 1)
        for _ in 0..<20_000 {
            let seconds = Int64.random(in: 0...253_402_300_799, using: &generator)
            let text = HTTPDate.text(unixSeconds: seconds)
            #expect(text.utf8.count == 29)
            #expect(HTTPDate.seconds(from: text) == seconds)
        }
    }

    @Test func `a leap second is read as the second that follows`() {
        #expect(HTTPDate.seconds(from: "Sat, 31 Dec 2016 23:59:60 GMT") == 1_483_228_800)
    }

    @Test(arguments: [
        "", " ", "0", "-1", "never",
        // The obsolete formats of RFC 850 and asctime.
        "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37 gmt", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 November 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov -994 08:49:37 GMT",
        "Sun, 06 Nov 10000 08:49:37 GMT", "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 6.0 Nov 1994 08:49:37 GMT",
        "2024-02-29T00:00:00Z", "Sun, 06 11 1994 08:49:37 GMT",
    ])
    func `no other form is a date`(text: String) {
        #expect(HTTPDate.seconds(from: text) == nil)
    }

    @Test(arguments: [
        "Wed, 30 Feb 2000 00:00:00 GMT", "Wed, 29 Feb 2023 00:00:00 GMT", "Mon, 29 Feb 2100 00:00:00 GMT",
        "Mon, 31 Apr 2024 00:00:00 GMT",
    ])
    func `a day that its month does not have is no date`(text: String) {
        #expect(HTTPDate.seconds(from: text) == nil)
    }

    @Test(arguments: [
        "Sun, +6 Nov 1994 08:49:37 GMT", "Sun,:06 Nov 1994 08:49:37 GMT", "Sun  06 Nov 1994 08 49 37 GMT",
        "Sun, 06 Nov 1994 +8:49:37 GMT",
    ])
    func `signs and other separators make no date`(text: String) {
        #expect(HTTPDate.seconds(from: text) == nil)
    }
}
