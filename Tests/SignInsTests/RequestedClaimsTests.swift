import JOSE
import Testing
import Verification
@testable import SignIns

/// What an authorization request asks for, and what its finish then demands.
@Suite struct RequestedClaimsTests {
    private static func read(_ members: String, acrValues: String? = nil) throws(Problem) -> RequestedClaims {
        guard let object = try? JSONObject(Array("{\(members)}".utf8)) else { throw .notFound }
        return try RequestedClaims(object, acrValues: acrValues)
    }

    @Test(
        arguments: [
            ("", nil, nil), (#""require_acr":false"#, "a", nil), (#""require_acr":null"#, "a", nil),
            (#""require_acr":true"#, "a  b", ["a", "b"]),
            (#""claims":{"id_token":{"acr":{"essential":true,"value":"c"}}}"#, nil, ["c"]),
            (#""claims":{"id_token":{"acr":{"essential":true,"values":["c","d"]}}}"#, "a", ["c", "d"]),
            (#""claims":{"id_token":{"acr":{"essential":false,"values":["c"]}}}"#, nil, nil),
            (#""claims":{"id_token":{"acr":null}}"#, nil, nil), (#""claims":{"id_token":null}"#, nil, nil),
            (#""require_acr":true,"claims":{"id_token":{"acr":{"essential":true,"values":["c","b"]}}}"#, "a b", ["b"]),
        ] as [(String, String?, [String]?)])
    func `which acr must come back`(members: String, acrValues: String?, expected: [String]?) throws {
        #expect(try Self.read(members, acrValues: acrValues).contextClasses == expected)
    }

    @Test func `claims are kept as they were written`() throws {
        let text = #"{ "id_token": {"auth_time" : {"essential": true}}, "a":1.0 }"#
        let read = try Self.read("\"claims\":" + text)
        #expect(read.claims.map { String(decoding: $0, as: UTF8.self) } == text && read.requiresAuthenticationTime)
        #expect(read.sets("claims") && !read.sets("resource"))
    }

    @Test(
        arguments: [
            #"["https://a.example/b?c=d"]"#, #"["urn:a","x-y.z+1:b"]"#, "[]", "null",
        ])
    func `resources are absolute`(value: String) throws {
        _ = try Self.read("\"resource\":" + value)
    }

    @Test(
        arguments: [
            #""resource":"https://a.example""#, #""resource":["a"]"#, #""resource":["https://a.example/#b"]"#,
            #""resource":["1a:b"]"#, #""resource":["a:"]"#, #""resource":["a: b"]"#, #""resource":[null]"#,
            #""claims":"{}""#, #""claims":{"id_token":7}"#, #""require_acr":true"#, #""require_acr":1"#,
            #""claims":{"id_token":{"acr":{"essential":true,"values":"a"}}}"#,
            #""claims":{"id_token":{"acr":{"essential":"true","value":"a"}}}"#, #""claims":{"id_token":{"acr":"a"}}"#,
            #""claims":{"id_token":{"auth_time":{"essential":1}}}"#, #""claims":{"id_token":{"auth_time":true}}"#,
        ])
    func `what makes no sense`(members: String) {
        #expect(throws: Problem.self) { try Self.read(members) }
    }
}
