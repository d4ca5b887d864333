import Foundation
import IDToken
import SignInFixtures
import Testing
import TestSupport

/// Claims as types of the relying party's own.
@Suite struct ClaimsDecodingTests {
    struct Employee: Decodable, Equatable {
        struct Manager: Decodable, Equatable {
            let name: String
            let level: UInt8?
        }

        let department: String
        let roles: [String]
        let manager: Manager?
        let hiredAt: UnixTime?
        let share: Double?

        enum CodingKeys: String, CodingKey {
            case department, roles, manager, share
            case hiredAt = "hired_at"
        }
    }

    private let employee = SignIn.plain.with("department", #""R\u0026D""#).with("roles", #"["dev","ops"]"#)

    @Test func `a type of one's own is decoded from the verified claims`() throws {
        let verified = try employee.with("manager", #"{"name":"Ada","level":7}"#).with("hired_at", "1600000000.9")
            .with("share", "0.25").verify()
        #expect(
            try verified.claims(as: Employee.self)
                == Employee(
                    department: "R&D", roles: ["dev", "ops"], manager: .init(name: "Ada", level: 7),
                    hiredAt: UnixTime(seconds: 1_600_000_000), share: 0.25))
    }

    @Test(arguments: [nil, "null"]) func `an optional claim may be absent or null`(json: String?) throws {
        let signIn = json.map { employee.with("manager", $0).with("hired_at", $0) } ?? employee
        let decoded = try signIn.verify().claims(as: Employee.self)
        #expect(decoded.manager == nil && decoded.hiredAt == nil)
    }

    @Test(arguments: [
        ("department", "5"), ("department", "null"), ("roles", #""dev""#), ("roles", #"["dev",5]"#), ("roles", "{}"),
        ("manager", "[]"), ("manager", #"{"name":"Ada","level":7.0}"#), ("manager", #"{"name":"Ada","level":256}"#),
        ("manager", #"{"name":"Ada","level":-1}"#), ("manager", #"{"name":"Ada","level":"7"}"#),
        ("manager", #"{"name":"Ada","level":18446744073709551616}"#), ("hired_at", #""1600000000""#),
        ("hired_at", "true"), ("share", #""0.25""#),
    ])
    func `no value is converted`(claim: String, json: String) throws {
        let verified = try employee.with(claim, json).verify()
        let error = #expect(throws: DecodingError.self) { try verified.claims(as: Employee.self) }
        #expect(error?.path.first == claim)
    }

    @Test func `names compare byte for byte`() throws {
        let verified = try SignIn.plain.with("caf\u{e9}", "1").verify()
        #expect(try verified.claim("caf\u{e9}", as: Int.self) == 1)
        #expect(try verified.claim("cafe\u{301}", as: Int.self) == nil)
        #expect(try verified.claim("Sub", as: String.self) == nil)
    }

    @Test func `one claim is decoded by its name`() throws {
        let verified = try SignIn.plain.with("level", "3").with("on", "false").with("nothing", "null").with(
            "nested", #"[[1,2],[]]"#
        ).verify()
        #expect(try verified.claim("level") == 3)
        #expect(try verified.claim("level", as: Float.self) == 3)
        #expect(try verified.claim("on", as: Bool.self) == false)
        #expect(try verified.claim("nested", as: [[Int]].self) == [[1, 2], []])
        #expect(try verified.claim("exp", as: UnixTime.self) == verified.expiresAt)
        #expect(try verified.claim("nothing", as: Int.self) == nil)
        #expect(try verified.claim("absent", as: Int.self) == nil)
        #expect(throws: DecodingError.self) { try verified.claim("level", as: Bool.self) }
        #expect(throws: DecodingError.self) { try verified.claim("level", as: [String: Int].self) }
    }

    @Test func `an object may have any names`() throws {
        let verified = try SignIn.plain.with("quotas", #"{"cpu":2,"disk":9}"#).verify()
        #expect(try verified.claim("quotas", as: [String: Int64].self) == ["cpu": 2, "disk": 9])
    }

    /// Foundation's own decoding would read 1 700 000 000 as a day in 2054.
    @Test func `a Date is refused`() throws {
        let verified = try SignIn.plain.verify()
        #expect(throws: DecodingError.self) { try verified.claim("exp", as: Date.self) }
    }

    @Test func `errors of the type itself, and those about a claim, show no value`() throws {
        struct Never: Decodable {
            struct Refusal: Error {}
            init(from decoder: any Decoder) throws { throw Refusal() }
        }
        let verified = try SignIn.plain.with("secret", #""s3cr3t""#).verify()
        let refused = #expect(throws: DecodingError.self) { try verified.claims(as: Never.self) }
        guard case .dataCorrupted(let context) = refused else {
            Issue.record("another error")
            return
        }
        #expect(context.underlyingError is Never.Refusal)
        let error = #expect(throws: DecodingError.self) { try verified.claim("secret", as: Int.self) }
        #expect(!"\(String(describing: error))".contains("s3cr3t"))
    }

    /// An enumeration, a class and a discriminated union, as the compiler and people write them.
    @Test func `nested containers and super decoders work`() throws {
        enum Plan: String, Decodable { case free, paid }
        class Base: Decodable { let id: Int }
        class Derived: Base {
            let tags: [String]
            enum CodingKeys: String, CodingKey { case tags, point }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                var tags: [String] = []
                var list = try container.nestedUnkeyedContainer(forKey: .tags)
                while !list.isAtEnd {
                    if try !list.decodeNil() { tags.append(try list.decode(String.self)) }
                }
                #expect(throws: DecodingError.self) { try list.decode(String.self) }
                #expect(list.count == 3 && container.contains(.point))
                let point = try container.nestedContainer(keyedBy: CodingKeys.self, forKey: .point)
                #expect(point.allKeys == [.tags])
                self.tags = tags
                try super.init(from: container.superDecoder())
            }
        }
        let verified = try SignIn.plain.with("plan", #""paid""#).with("id", "4").with("tags", #"["a",null,"b"]"#).with(
            "point", #"{"tags":1,"x":2}"#
        ).verify()
        #expect(try verified.claim("plan", as: Plan.self) == .paid)
        #expect(throws: DecodingError.self) { try verified.claim("iss", as: Plan.self) }
        let derived = try verified.claims(as: Derived.self)
        #expect((derived.id, derived.tags) == (4, ["a", "b"]))
    }

    @Test func `the standard claims of a profile are typed`() throws {
        let profile = try SignIn.plain.with("middle_name", #""King""#).with("zoneinfo", #""Europe/London""#)
            .with("phone_number_verified", "true").with("address", #"{"postal_code":"1","country":"GB"}"#)
            .with("updated_at", "1500000000").verify().claims(as: ProfileClaims.self)
        #expect((profile.middleName, profile.timeZone) == ("King", "Europe/London"))
        #expect(profile.isPhoneNumberVerified == true && profile.phoneNumber == nil)
        #expect((profile.address?.postalCode, profile.address?.country) == ("1", "GB"))
        #expect(profile.updatedAt == UnixTime(seconds: 1_500_000_000))
        #expect(try SignIn.plain.verify().claims(as: ProfileClaims.self).nickname == nil)
    }
}

extension DecodingError {
    /// The names of the claims that lead to the error.
    fileprivate var path: [String] {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.map(\.stringValue)
        case .keyNotFound(let key, let context): context.codingPath.map(\.stringValue) + [key.stringValue]
        @unknown default: []
        }
    }
}
