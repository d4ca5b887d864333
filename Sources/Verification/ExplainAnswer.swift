internal import Host
internal import IDToken
package import JSON
internal import KeySource
package import TokenDiagnostics

/// The answer of `POST /v1/explain`: the result of each check, and the state of the provider's keys.
package struct ExplainAnswer {
    package let explanation: Explanation
    /// The ID of the provider whose rules applied; `nil` if there was none.
    let provider: String?
    let keys: KeyStatus?
    /// The time with which the token's times were compared, in Unix seconds.
    let time: Int64

    /// Writes the answer as a JSON object that always has every member.
    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("valid", explanation.isValid)
            json.member("provider", provider)
            json.member("code", explanation.refusal?.code)
            json.member("summary", explanation.summary)
            json.name("likely_cause")
            if let cause = explanation.likelyCause { write(cause, to: &json) } else { json.null() }
            json.member("time", time)
            json.objects("checks", explanation.checks) { json, check in
                json.member("name", check.name.rawValue)
                json.member("state", check.state.name)
                json.member("code", check.refusal?.code)
                json.member("expected", check.expected)
                json.member("found", check.found)
                json.member("explanation", check.explanation)
                json.member("fix", check.fix)
            }
            json.name("keys")
            if let keys { write(keys, to: &json) } else { json.null() }
            json.name("token")
            if let contents = explanation.contents { contents.write(to: &json) } else { json.null() }
        }
    }

    private func write(_ cause: Explanation.Cause, to json: inout JSONWriter) {
        json.object { json in
            json.member("check", cause.check.rawValue)
            json.member("explanation", cause.explanation)
            json.member("fix", cause.fix)
        }
    }

    private func write(_ keys: KeyStatus, to json: inout JSONWriter) {
        json.object { json in
            json.member("state", KeyState(keys.snapshot, at: keys.now).rawValue)
            json.member("source", keys.snapshot?.source.rawValue)
            json.member("fetched_at", keys.snapshot?.fetchedAtUnixSeconds)
            json.member("next_fetch_at", keys.nextFetchAt(unixSeconds: time))
            json.member("clock_offset_seconds", keys.snapshot?.clockOffsetSeconds)
            json.name("last_error")
            keys.writeLastError(to: &json)
        }
    }
}

extension TokenContents {
    /// Writes a token's header and claims as a JSON object.
    package func write(to json: inout JSONWriter) {
        json.object { json in
            for (name, members) in [("header", header), ("claims", claims)] as [(StaticString, [Member])] {
                json.objects(name, members) { json, member in
                    json.member("name", member.name)
                    json.member("value", member.value)
                    json.member("masked", member.isMasked)
                }
            }
        }
    }
}
