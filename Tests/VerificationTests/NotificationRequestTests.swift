import JOSE
import Testing
@testable import Verification

@Suite struct NotificationRequestTests {
    private func request(_ text: String) throws -> NotificationRequest {
        try NotificationRequest(JSONObject(Array(text.utf8), allowsNUL: true))
    }

    @Test(arguments: [
        #"{"token":"a.b.c"}"#, #"{"payload":"a.b.c"}"#, #"{"payload":{"payload":"a.b.c"}}"#,
        #"{"payload":null,"token":"a.b.c","provider":null}"#, #"{"token":null,"payload":"a.b.c"}"#,
    ])
    func `the token, or what Apple sent`(text: String) throws {
        let request = try request(text)
        #expect(request.token.elementsEqual("a.b.c".utf8))
        #expect(request.provider == nil)
    }

    @Test func `a provider`() throws {
        #expect(try request(#"{"token":"a","provider":"apple"}"#).provider == "apple")
    }

    @Test(arguments: [
        "{}", #"{"token":null}"#, #"{"provider":"apple"}"#, #"{"token":"a","payload":"b"}"#, #"{"token":1}"#,
        #"{"payload":1}"#,
        #"{"payload":[]}"#, #"{"payload":{}}"#, #"{"payload":{"payload":1}}"#, #"{"payload":{"payload":"a","b":1}}"#,
        #"{"payload":{"token":"a"}}"#, #"{"token":"a","provider":""}"#, #"{"token":"a","id_token":"b"}"#,
        #"{"token":"a","include_claims":true}"#, #"{"token":{"token":"a"}}"#,
    ])
    func `anything else is refused`(text: String) {
        #expect { try request(text) } throws: { error in
            guard case .requestInvalid(let detail) = error as? Problem else { return false }
            expectSentence(detail)
            return true
        }
    }
}
