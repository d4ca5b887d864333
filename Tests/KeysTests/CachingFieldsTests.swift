import HTTP
@testable import Keys
import NIOHTTP1
import Testing

@Suite struct CachingFieldsTests {
    private func fields(_ headers: HTTPHeaders) -> CachingFields { CachingFields(headers) }

    /// The conditional request's header fields, as lines.
    private func conditions(_ fields: CachingFields) -> [String]? {
        fields.conditions?.map { "\($0.name): \($0.value)" }
    }

    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let anHourLater = "Sun, 06 Nov 1994 09:49:37 GMT"

    // MARK: One response

    @Test func `repeated fields of Cache-Control count as one`() {
        let repeated: HTTPHeaders = ["Cache-Control": "public", "cache-control": "max-age=600", "AGE": "60"]
        #expect(fields(repeated).lifetime == .seconds(540))
        #expect(fields(["Expires": Self.anHourLater, "Date": Self.date]).lifetime == .seconds(3600))
        #expect(fields([:]).lifetime == nil)
    }

    @Test(
        arguments: [
            ([:], nil),
            (["ETag": "\"v1\""], ["If-None-Match: \"v1\""]),
            (["ETag": "W/\"v1\""], ["If-None-Match: W/\"v1\""]),
            (["Last-Modified": date], ["If-Modified-Since: \(date)"]),
            (["Last-Modified": date, "ETag": "\"v1\""], ["If-None-Match: \"v1\"", "If-Modified-Since: \(date)"]),
            // An invalid date could not be sent back as a date. An entity tag is opaque to clients.
            (["Last-Modified": "yesterday"], nil), (["Last-Modified": "0"], nil),
            (["ETag": "\"v1\"", "Last-Modified": "yesterday"], ["If-None-Match: \"v1\""]),
            (["ETag": "v1"], ["If-None-Match: v1"]),
            (["ETag": ""], nil), (["Last-Modified": ""], nil),
            (["ETag": "\"v1\"", "Last-Modified": ""], ["If-None-Match: \"v1\""]),
            (["ETag": "\"v1\"", "etag": "\"v2\""], ["If-None-Match: \"v1\""]),
            (["Date": date, "Expires": date, "Cache-Control": "max-age=60", "X-ETag": "\"v1\""], nil),
        ] as [(HTTPHeaders, [String]?)])
    func `a document with a validator can be asked about`(headers: HTTPHeaders, conditions: [String]?) {
        #expect(self.conditions(fields(headers)) == conditions)
    }

    @Test func `an entity tag of more than 1024 bytes is not worth them`() throws {
        let longest = String(repeating: "x", count: 1024)
        #expect(try #require(fields(["ETag": longest]).conditions).map(\.value) == [longest])
        #expect(fields(["ETag": longest + "x"]).conditions == nil)
        #expect(fields(["ETag": String(repeating: "é", count: 513)]).conditions == nil)
        // The date is still sent.
        #expect(
            conditions(fields(["ETag": longest + "x", "Last-Modified": Self.date]))
                == ["If-Modified-Since: \(Self.date)"])
    }

    // MARK: Not modified (304)

    @Test(
        arguments: [
            // A response without caching fields changes nothing except the age, which was the first response's own.
            (["Cache-Control": "max-age=600", "Age": "60"], [:], 600),
            (["Cache-Control": "max-age=600"], ["Age": "60"], 540),
            (["Cache-Control": "max-age=600", "Age": "60"], ["Age": "10"], 590),
            (["Cache-Control": "max-age=600"], ["Cache-Control": "max-age=60"], 60),
            (["Cache-Control": "max-age=600"], ["Cache-Control": "no-store"], 0),
            (["Cache-Control": "no-cache"], ["Cache-Control": "max-age=60"], 60),
            ([:], ["Cache-Control": "max-age=60"], 60),
            ([:], [:], nil),
            // Cache-Control takes precedence over Expires, whichever is newer.
            (["Cache-Control": "max-age=600"], ["Expires": anHourLater, "Date": date], 600),
            (["Expires": anHourLater, "Date": date], ["Cache-Control": "max-age=60"], 60),
            (["Expires": anHourLater, "Date": date], [:], 3600),
            (["Expires": date, "Date": date], ["Expires": anHourLater], 3600),
            // Half an hour of it has passed.
            (["Expires": anHourLater, "Date": date], ["Date": "Sun, 06 Nov 1994 09:19:37 GMT"], 1800),
            (["Expires": anHourLater, "Date": date], ["Date": anHourLater], 0),
        ] as [(HTTPHeaders, HTTPHeaders, Int64?)])
    func `a confirmation's fields take the place of the same ones before, and the age of any`(
        before: HTTPHeaders, confirmation: HTTPHeaders, lifetime: Int64?
    ) {
        #expect(fields(before).updated(with: fields(confirmation)).lifetime == lifetime.map(Interval.seconds))
    }

    @Test func `a confirmation may bring a new validator, and needs not repeat the old`() {
        let before = fields(["ETag": "\"v1\"", "Last-Modified": Self.date])
        #expect(conditions(before.updated(with: fields([:]))) == conditions(before))
        #expect(
            conditions(before.updated(with: fields(["ETag": "\"v2\""])))
                == ["If-None-Match: \"v2\"", "If-Modified-Since: \(Self.date)"])
        #expect(
            conditions(before.updated(with: fields(["ETag": String(repeating: "x", count: 1025)])))
                == conditions(before))
        #expect(conditions(fields([:]).updated(with: fields(["ETag": "\"v2\""]))) == ["If-None-Match: \"v2\""])
    }
}
