import HTTP
import OpenSSL
@testable import Service
import Testing
import Verification

@Suite struct CallerKeysTests {
    private static func digest(_ key: String) -> [UInt8] {
        try! DigestContext().digest(Array(key.utf8).span, with: .sha256)
    }

    private let keys = CallerKeys(digests: [digest("first"), digest("sécond")])

    private func admits(_ fields: String...) -> Bool {
        keys.refusal(of: HTTPFields(fields.map { ("Authorization", $0) }), to: [.verify]) == nil
    }

    @Test func `without keys everyone is let in`() {
        let open = CallerKeys(digests: [])
        #expect(!open.isRequired)
        #expect(open.refusal(of: [:], to: APIKey.Permission.all) == nil)
        #expect(open.refusal(of: ["Authorization": "Basic x"], to: [.verify]) == nil)
        #expect(keys.isRequired)
    }

    @Test(arguments: ["Bearer first", "bearer first", "BEARER first", "Bearer sécond"])
    func `a caller with a valid API key is accepted`(field: String) {
        #expect(admits(field))
    }

    @Test(arguments: [
        "", "Bearer", "Bearer ", "Bearer  first", "Bearer first ", "Bearer\tfirst", "Bearer: first", "first",
        "Basic first", "Bearerfirst",
        " Bearer first", "Bearer First", "Bearer firs", "Bearer first2", "Bearer first,sécond", "Bearer second",
        "Bearer se\u{301}cond",
        "Bearer \u{0}", "Token first", "Bearer a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e",
    ])
    func `a caller without a valid API key is rejected`(field: String) {
        #expect(!admits(field))
    }

    @Test func `no field and two fields are none`() {
        #expect(keys.refusal(of: [:], to: [.verify]) == .callerUnauthenticated)
        #expect(!admits("Bearer first", "Bearer first"))
        #expect(!admits("Bearer wrong", "Bearer first"))
        #expect(keys.refusal(of: ["AUTHORIZATION": "Bearer first"], to: [.verify]) == nil)
        #expect(keys.refusal(of: ["X-Authorization": "Bearer first"], to: [.verify]) == .callerUnauthenticated)
    }

    @Test(arguments: APIKey.Permission.allCases)
    func `a key is for what it allows, and its caller is named all the same`(permission: APIKey.Permission) {
        let keys = CallerKeys([
            APIKey(name: "narrow", digest: Self.digest("first"), permissions: [permission]),
            APIKey(name: "wide", digest: Self.digest("second")),
        ])
        for asked in [[permission], APIKey.Permission.all.subtracting([permission]), APIKey.Permission.all] {
            var name: String?
            let isAllowed = asked == [permission]
            do throws(Problem) {
                try keys.admit(["Authorization": "Bearer first"], to: asked, &name)
                #expect(isAllowed)
            } catch {
                #expect(!isAllowed && error == .callerForbidden)
            }
            #expect(name == "narrow")
            #expect(keys.refusal(of: ["Authorization": "Bearer second"], to: asked) == nil)
        }
    }
}

@Suite struct RequestIDsTests {
    private func id(_ given: String...) -> String {
        var ids = RequestIDs()
        return ids.id(for: HTTPFields(given.map { ("x-request-id", $0) }))
    }

    @Test(arguments: ["a", "!", "~", "req-1:2/3", "{\"a\"}", "\\", String(repeating: "x", count: 128)])
    func `the caller's own id is kept`(given: String) {
        #expect(id(given) == given)
    }

    @Test(arguments: [
        "", " ", "a b", "a\tb", "a\u{7f}", "a\u{0}", "é", "a\r\nX: y", String(repeating: "x", count: 129),
    ])
    func `an id of other characters, or too long, is replaced`(given: String) {
        let new = id(given)
        #expect(new != given)
        #expect(new.utf8.count == 32)
        #expect(new.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) })
    }

    @Test func `of two ids none is taken`() {
        #expect(!["a", "b"].contains(id("a", "b")))
        #expect(id("a", "a") != "a")
    }

    @Test func `new ids differ, within a loop and between loops`() {
        var first = RequestIDs()
        var second = RequestIDs()
        var seen: Set<String> = []
        for _ in 0..<10_000 {
            seen.insert(first.id(for: nil))
            seen.insert(second.id(for: [:]))
        }
        #expect(seen.count == 20_000)
        #expect(seen.allSatisfy { $0.utf8.count == 32 })
    }
}
