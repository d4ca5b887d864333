import IDToken
import JOSE
import OAuth

/// A grant is in the text as jansson reads it, an error is told by its registered name only, and what counts as an answer
/// of one endpoint does not depend on chance.
func fuzz(_ input: [UInt8]) {
    for status in [UInt(200), 400] { checkGrant(EndpointAnswer(status, input), status, input) }
    checkRevocation(input)
    checkUserInfo(input)
}

private let now = UnixTime(seconds: 1_700_000_000)

extension EndpointAnswer {
    fileprivate init(_ status: UInt, _ body: [UInt8]) {
        self.init(status: status, retryAfter: String(decoding: body.prefix(20), as: UTF8.self), hasContentCoding: false, body: body)
    }
}

private func checkGrant(_ answer: EndpointAnswer, _ status: UInt, _ input: [UInt8]) {
    let members = JSONTree.reading(input)
    do throws(CallFailure) {
        let grant = try answer.grant([], now: now)
        require(status == 200, "only 200 grants")
        guard let members else { return require(false, "\(shown(input)) is one JSON object") }
        require([nil, .null, .string("")].contains(members["error"]), "\(shown(input)) is no error")
        var json = JSONWriter()
        json.beginObject()
        grant.writeMembers(to: &json)
        json.endObject()
        let written = constant { try JSONTree(readingObject: json.bytes).object ?? [:] }
        for name in ["access_token", "token_type", "refresh_token", "id_token"] {
            let found = members[name] == .string("") ? .null : members[name] ?? .null
            require(written[name] == found, "\(name) of \(shown(input))")
        }
        if case .integer(let time)? = written["expires_at"] {
            require((0...Int64(Int32.max)).contains(time - now.seconds), "the lifetime in \(shown(input)) has bounds")
        }
    } catch {
        switch error {
        case .grantInvalid(let name, _), .clientRejected(let name), .refused(let name):
            let found = members?["error"]?.string ?? ""
            require(name.rawValue == found || name == .other, "\(shown(input)) has the error \(name)")
        case .answerInvalid: break
        case .notSent, .unavailable: require(false, "\(shown(input)) came with status \(status)")
        }
    }
}

private func checkRevocation(_ input: [UInt8]) {
    let isRevoked = (try? EndpointAnswer(200, input).revoked()) != nil
    let error = JSONTree.reading(input)?["error"] ?? .null
    require(
        isRevoked == [.null, .string(""), .string("invalid_token")].contains(error),
        "\(shown(input)) with 200 is a success unless it has an error")
}

private func checkUserInfo(_ input: [UInt8]) {
    guard let response = try? EndpointAnswer(200, input).userInfo(of: "1") else { return }
    require(response == .claims(input), "claims are passed on as they are")
    require(JSONTree.reading(input)?["sub"] == .string("1"), "\(shown(input)) is about 1")
}
