import HTTP
import Keys
import Testing

@Suite struct FreshnessTests {
    private func lifetime(
        _ cacheControl: String? = nil, age: String? = nil, expires: String? = nil, date: String? = nil
    ) -> Int64? {
        Freshness.lifetime(cacheControl: cacheControl, age: age, expires: expires, date: date).map { lifetime in
            #expect(lifetime.milliseconds % 1000 == 0)
            return lifetime.milliseconds / 1000
        }
    }

    /// As real providers send it.
    @Test(
        arguments: [
            ("public, max-age=23917, must-revalidate, no-transform", 23917),
            ("max-age=86400, private", 86400),
            ("public, max-age=600", 600),
            ("public,max-age=86400", 86400),
            ("max-age=3600,public,stale-while-revalidate=60,stale-if-error=86400", 3600),
            ("private, max-age=86400, stale-while-revalidate=86400", 86400),
            ("no-cache, no-store, max-age=0, must-revalidate", 0),
            ("no-store", 0), ("no-cache", 0), ("max-age=0", 0), ("private, no-cache=\"Set-Cookie\", max-age=60", 0),
            ("no-store, max-age=3600", 0), ("max-age=3600, no-store", 0), ("max-age=3600, no-cache", 0),
            ("MAX-AGE=60", 60), ("Public, Max-Age=60", 60), ("NO-STORE, max-age=60", 0),
            ("  max-age=60  ", 60), ("max-age=60,", 60), (",,max-age=60", 60), ("\tmax-age=60\t,\tpublic", 60),
            ("max-age=\"60\"", 60), ("s-maxage=10, max-age=60", 60), ("max-age=060", 60),
            ("max-age=2147483648", 1 << 31), ("max-age=2147483649", 1 << 31), ("max-age=99999999999999999999", 1 << 31),
        ] as [(String, Int64)])
    func `Cache-Control says how long`(cacheControl: String, seconds: Int64) {
        #expect(lifetime(cacheControl) == seconds)
        // It takes precedence over Expires.
        #expect(lifetime(cacheControl, expires: "Thu, 01 Jan 1970 00:00:00 GMT") == seconds)
    }

    @Test(arguments: [
        "", " ", ",", "public", "private", "must-revalidate", "s-maxage=60", "max-age", "max-age=", "max-age=\"\"",
        "max-age=-1", "max-age=+60", "max-age=6e2", "max-age=60s", "max-age=60.5", "max-age=0x60", "max-age=６０",
        "max-age=abc",
        "xmax-age=60", "max-age60", "max_age=60", "no-storex", "x-no-store", "no-caches=1",
    ])
    func `what Cache-Control does not say it does not say`(cacheControl: String) {
        #expect(lifetime(cacheControl) == nil)
    }

    @Test(arguments: [
        ("max-age=60, max-age=600", 60), ("max-age=600, max-age=60", 600), ("max-age=abc, max-age=60", 60),
    ])
    func `of several ages the first that can be read counts`(cacheControl: String, seconds: Int64) {
        #expect(lifetime(cacheControl) == seconds)
    }

    @Test(
        arguments: [
            ("0", 600), ("1", 599), ("599", 1), ("600", 0), ("601", 0), ("99999999999999999999", 0), (" 60 ", 540),
            ("-1", 600), ("", 600), ("abc", 600), ("60, 60", 600), ("6.5", 600),
        ] as [(String, Int64)])
    func `what the answer's age has used up is gone`(age: String, seconds: Int64) {
        #expect(lifetime("max-age=600", age: age) == seconds)
    }

    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:49:38 GMT", 1),
            ("Sun, 06 Nov 1994 09:49:37 GMT", 3600),
            ("Mon, 07 Nov 1994 08:49:37 GMT", 86400), ("Sun, 06 Nov 1994 08:49:36 GMT", 0),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            (" Mon, 07 Nov 1994 08:49:37 GMT ", 86400),
            // RFC 9111, 5.3: an invalid date is in the past.
            ("0", 0), ("-1", 0), ("", 0), ("never", 0),
        ] as [(String, Int64)])
    func `where only Expires says, its distance from Date counts`(expires: String, seconds: Int64) {
        #expect(lifetime(expires: expires, date: Self.date) == seconds)
        #expect(lifetime("public", expires: expires, date: Self.date) == seconds)
    }

    @Test func `without a date nobody knows how far off Expires is`() {
        #expect(lifetime(expires: Self.date) == 0)
        #expect(lifetime(expires: Self.date, date: "now") == 0)
    }

    @Test func `an answer that says nothing says nothing`() {
        #expect(lifetime() == nil)
        #expect(lifetime(age: "60", date: Self.date) == nil)
    }
}
