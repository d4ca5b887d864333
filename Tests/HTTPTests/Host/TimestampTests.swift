import HTTP
import Testing

@Suite struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (1, "1970-01-01T00:00:00.001Z"),
            (999, "1970-01-01T00:00:00.999Z"),
            (1000, "1970-01-01T00:00:01.000Z"),
            (951_782_400_050, "2000-02-29T00:00:00.050Z"),
            (2_147_483_648_000, "2038-01-19T03:14:08.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func `moments are written to the millisecond`(milliseconds: Int64, text: String) {
        #expect(Timestamp.text(unixMilliseconds: milliseconds) == text)
    }

    @Test func `timestamps sort as the moments do`() {
        let moments = (0..<2000).map { Int64($0) * 86_399_987 + 946_684_799_000 }
        let texts = moments.map(Timestamp.text)
        #expect(texts == texts.sorted())
        #expect(Set(texts).count == texts.count)
        #expect(texts.allSatisfy { $0.utf8.count == 24 })
    }
}
