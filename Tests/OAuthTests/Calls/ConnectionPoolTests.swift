import HTTP
@testable import OAuth
import Testing

@Suite struct ConnectionPoolTests {
    private typealias Pool = ConnectionPool<Int>
    private static let a = Pool.Origin(isSecure: true, host: "a.example", port: 443)
    private static let b = Pool.Origin(isSecure: true, host: "b.example", port: 443)

    private func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: milliseconds) }

    private func kept(_ number: Int, _ origin: Pool.Origin = a, openedAt: Int64 = 0) -> Pool.Kept {
        Pool.Kept(connection: number, origin: origin, openedAt: time(openedAt))
    }

    @Test func `the one used last is taken first, and by one only`() {
        var pool = Pool(capacity: 64)
        #expect(pool.take(Self.a, now: time(0))?.connection == nil)
        #expect(pool.put(kept(1), now: time(0)) == [])
        #expect(pool.put(kept(2), now: time(1)) == [])
        #expect(pool.take(Self.a, now: time(2))?.connection == 2)
        #expect(pool.take(Self.a, now: time(2))?.connection == 1)
        #expect(pool.take(Self.a, now: time(2))?.connection == nil)
    }

    @Test func `a connection to another origin is not taken`() {
        var pool = Pool(capacity: 64)
        _ = pool.put(kept(1, Self.b), now: time(0))
        for origin in [
            Self.a, .init(isSecure: false, host: "b.example", port: 443),
            .init(isSecure: true, host: "b.example", port: 444),
        ] {
            #expect(pool.take(origin, now: time(0))?.connection == nil)
        }
        #expect(pool.take(Self.b, now: time(0))?.connection == 1)
    }

    @Test func `idle for four seconds is over`() {
        var pool = Pool(capacity: 64)
        _ = pool.put(kept(1), now: time(0))
        #expect(pool.removeExpired(now: time(3999)) == [])
        #expect(pool.take(Self.a, now: time(4000))?.connection == nil)
        #expect(pool.removeExpired(now: time(4000)) == [1])
        #expect(pool.isEmpty)
        _ = pool.put(kept(2), now: time(4000))
        #expect(pool.take(Self.a, now: time(7999))?.connection == 2)
    }

    @Test func `a minute old is over, however often it is used`() {
        var pool = Pool(capacity: 64)
        #expect(pool.put(kept(1), now: time(59_999)) == [])
        #expect(pool.take(Self.a, now: time(60_000))?.connection == nil)
        #expect(pool.put(kept(2), now: time(60_000)) == [2])
        #expect(pool.removeExpired(now: time(60_000)) == [1])
    }

    @Test func `beyond 64, the one unused for longest goes`() {
        var pool = Pool(capacity: 64)
        for number in 1...64 { #expect(pool.put(kept(number), now: time(0)) == []) }
        #expect(pool.put(kept(65), now: time(0)) == [1])
        #expect(pool.removeAll() == Array(2...65))
        #expect(pool.isEmpty)
    }

    @Test func `a clock that was set back ends their time`() {
        var pool = Pool(capacity: 64)
        _ = pool.put(kept(1, openedAt: 1000), now: time(1000))
        #expect(pool.take(Self.a, now: time(999))?.connection == nil)
        #expect(pool.removeExpired(now: time(999)) == [1])
    }
}
