private import Bytes
package import IDToken
private import JOSE

/// A string that is not a token, and what probably happened to it.
struct MalformedToken {
    private let octets: ArraySlice<UInt8>
    private let text: String
    private let expected: ExplainedKind

    init(_ octets: ArraySlice<UInt8>, as expected: ExplainedKind) {
        self.octets = octets
        self.expected = expected
        text = String(decoding: octets.prefix(UnverifiedToken.maximumLengths.upperBound), as: UTF8.self)
    }

    func check(_ rejection: Rejection) -> Check {
        .failed(
            .tokenForm, rejection, diagnosis(rejection),
            expected: "three parts of unpadded base64url, separated by dots", found: found)
    }

    /// The members of responses and messages that have the token.
    private var members: [String] {
        switch expected {
        case .idToken: ["id_token"]
        case .accessToken: ["access_token"]
        case .notification: ["logout_token", "payload"]
        }
    }

    /// Where to take the token from.
    private var source: String {
        switch expected {
        case .idToken: "the id_token of the provider's response"
        case .accessToken: "the access_token of the provider's response"
        case .notification:
            "the logout_token or payload that the provider posted, or the whole body of a security event"
        }
    }

    private var found: String {
        // Counted before the text is cut.
        let parts = octets.count { $0 == UInt8(ascii: ".") } + 1
        return "\(octets.count) bytes, \(parts == 1 ? "1 part" : "\(parts) parts")"
    }

    private var parts: [Substring] { text.split(separator: ".", omittingEmptySubsequences: false) }

    private func diagnosis(_ rejection: Rejection) -> Diagnosis {
        guard case .tokenMalformed(let part) = rejection else {
            return Diagnosis(rejection, otherwise: Diagnosis("The token can't be read."))
        }
        if part == .tooLong {
            return Diagnosis(
                "The token is \(octets.count) bytes long, which is more than limits.max_token allows.",
                fix: """
                    Send nothing but \(source). If that is too long, have the provider put less into it (groups and roles are \
                    usually what makes tokens long), or raise limits.max_token.
                    """)
        }
        return loadBalancer ?? wrapping ?? container ?? placeholder ?? diagnosis(part)
    }

    /// The assertion of an AWS load balancer, which is padded on purpose.
    private var loadBalancer: Diagnosis? {
        guard let token = try? UnverifiedToken(padded: octets), token.jws.headerObject?["signer"] != nil else {
            return nil
        }
        return Diagnosis(
            """
            The token is the assertion of an AWS load balancer (its header has signer, and its parts are padded), \
            \(expected == .accessToken ? "but no provider has its signer" : "which is not verified here").
            """,
            fix: expected == .accessToken
                ? "Add a provider with the preset aws-alb and this signer."
                : "Send it to POST /v1/access-tokens/verify, with a provider that has the preset aws-alb.")
    }

    // MARK: Damaged tokens

    /// The accidental changes that must be undone to get a token; `nil` if that does not help.
    private var wrapping: Diagnosis? {
        var repaired = text
        var wrappings: [Wrapping] = []
        // The last change is undone first. The same change rarely occurs more than twice.
        for _ in 0..<2 {
            for wrapping in Wrapping.all {
                guard let unwrapped = wrapping.remove(repaired), unwrapped != repaired else { continue }
                repaired = unwrapped
                wrappings.append(wrapping)
            }
        }
        guard !wrappings.isEmpty, (try? UnverifiedToken(repaired)) != nil else { return nil }
        let names = wrappings.map(\.name)
        return Diagnosis(
            "The string contains a token, but \(names.joined(separator: ", and ")).", fix: wrappings[0].fix)
    }

    /// A JSON object or a form, such as the response of a provider's token endpoint or the message of a logout.
    private var container: Diagnosis? {
        var values: [(name: String, value: String)] = []
        let object = try? JSONObject(octets)
        if let object {
            object.forEachMember { name, value in value.string.map { values.append((name, $0)) } }
        } else {
            values = text.split(separator: "&").compactMap { pair in
                let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
                return parts.count == 2 ? (parts[0], parts[1]) : nil
            }
        }
        let tokens = values.filter { (try? UnverifiedToken($0.value)) != nil }.map(\.name)
        let (kind, part) = object == nil ? ("a form", "field") : ("a JSON object", "member")
        if let found = tokens.first(where: members.contains) ?? tokens.first {
            let name = Redaction.text(found)
            return Diagnosis(
                "The string is \(kind), whose \(part) \(name) is a token.", fix: "Send the value of \(name).")
        }
        return object.map { _ in
            Diagnosis("The string is a JSON object, none of whose members is a token.", fix: "Send \(source).")
        }
    }

    /// Values that programs send by mistake instead of a token.
    private var placeholder: Diagnosis? {
        let fix = "Check where the app or the backend reads the token: what it sent has none."
        if text.allSatisfy(\.isWhitespace) { return Diagnosis("The token is empty.", fix: fix) }
        guard ["null", "undefined", "nil", "None", "[object Object]"].contains(text) else { return nil }
        return Diagnosis("The string is the word \(Redaction.quoted(text)), not a token.", fix: fix)
    }

    // MARK: Other strings

    private func diagnosis(_ part: Rejection.TokenPart) -> Diagnosis {
        switch part {
        case .encrypted:
            Diagnosis(
                "The token has five parts: it is encrypted (JWE), and only the holder of its key can read it.",
                fix: expected == .accessToken
                    ? "Configure the provider so that its access tokens are signed and not encrypted."
                    : "To open it, add encryption to the provider in the settings; or configure the client at the provider so that its tokens are signed and not encrypted."
            )
        case .empty, .serialization, .tooLong: serializationDiagnosis
        case .header: partDiagnosis("header", parts.first)
        case .payload: partDiagnosis("payload", parts.dropFirst().first)
        case .signature: partDiagnosis("signature", parts.last)
        }
    }

    private var serializationDiagnosis: Diagnosis {
        switch parts.count {
        case 1:
            return Diagnosis(
                "The string contains no dot, so it is no JWT: it is probably an opaque access token, a code, or the beginning of a token.",
                fix: "Send all of \(source).")
        case 2 where isUnsigned:
            return Diagnosis(
                "The token is not signed: it has no third part, and its header says so (alg none).",
                fix:
                    "Never accept such a token: anyone can make one. Configure the client at the provider so that its tokens are signed."
            )
        case 2 where header == nil:
            return Diagnosis(
                "The string has two parts, and the first is not a token's header: it is an opaque access token or a code.",
                fix: "Send \(source).")
        case 2:
            return Diagnosis(
                "The token has two parts, so its signature is missing: the token was truncated, or never signed.",
                fix: Diagnosis.truncationFix)
        default:
            return Diagnosis(
                "A token has three parts, but the string has \(parts.count).",
                fix: "Send one token, exactly as the provider issued it.")
        }
    }

    /// The first part as a JOSE header; `nil` if it is not one JSON object in base64url.
    private var header: JSONObject? {
        parts.first.flatMap { Base64URL.decode(Array($0.utf8).span) }.flatMap { try? JSONObject($0) }
    }

    /// Whether the first part is a header with `alg` `none`.
    private var isUnsigned: Bool { header?["alg"]?.string?.lowercased() == "none" }

    private func partDiagnosis(_ name: String, _ part: Substring?) -> Diagnosis {
        let asGiven = "Send the token exactly as the provider issued it."
        guard let part, !part.isEmpty else {
            return Diagnosis("The token's \(name) is empty.", fix: asGiven)
        }
        if Base64URL.decode(Array(part.utf8).span) == nil {
            let isCutOff = part.utf8.count % 4 == 1
            return Diagnosis(
                isCutOff
                    ? """
                    The token's \(name) is one character too long or too short: the token was truncated, or \
                    assembled wrongly.
                    """
                    : "The token's \(name) is not base64url: it has other characters, or was truncated.",
                fix: asGiven)
        }
        return Diagnosis(
            "The token's \(name) is not one JSON object in UTF-8 without duplicate members.",
            fix: "Check that the token is from this provider, and was not changed on its way.")
    }
}

/// An accidental change of a token.
private struct Wrapping: Sendable {
    /// The words after "The string contains a token, but".
    let name: String
    let fix: String
    /// The string without the change; `nil` if the change is not present.
    let remove: @Sendable (String) -> String?

    static let all: [Wrapping] = [
        Wrapping(name: "it is percent-encoded", fix: "Decode the form or the query before taking the token out of it.")
        {
            $0.contains("%") ? percentDecoded($0).map { String(decoding: $0, as: UTF8.self) } : nil
        },
        Wrapping(
            name: "the word Bearer precedes it",
            fix:
                "Send only the part after Bearer, and check that it is the right kind of token: APIs get access tokens."
        ) {
            $0.lowercased().hasPrefix("bearer") ? String($0.dropFirst("bearer".count).drop { $0 == " " }) : nil
        },
        Wrapping(name: "there is whitespace around it or in it", fix: "Strip newlines and spaces from the token.") {
            $0.filter { !$0.isWhitespace && $0 != "\0" }
        },
        Wrapping(name: "it is in quotation marks", fix: "Decode the JSON string before sending it on.") {
            for mark in ["\"", "'", "`"] where $0.count >= 2 && $0.hasPrefix(mark) && $0.hasSuffix(mark) {
                return String($0.dropFirst().dropLast())
            }
            return nil
        },
        Wrapping(
            name: "it was encoded in base64 once more",
            fix:
                "Send the token as text: if the app gets it as bytes, decode them as UTF-8 instead of encoding them in base64."
        ) { text in
            guard !text.contains(".") else { return nil }
            let base64URL = text.filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
            return Base64URL.decode(Array(String(base64URL).utf8).span).map { String(decoding: $0, as: UTF8.self) }
        },
        Wrapping(name: "its parts are padded with =", fix: "Don't re-encode the token's parts.") {
            $0.filter { $0 != "=" }
        },
        Wrapping(
            name: "it uses the alphabet of plain base64", fix: "Don't re-encode the token's parts."
        ) {
            String($0.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
        },
    ]
}

extension Check {
    static let wellFormed = Check.passed(
        .tokenForm, "The token is a signed JWT: header, payload and signature can be read.")
}

/// Explanations of encrypted tokens. They must not be a way to open captured ones: they show the header that everyone can
/// read, and the results of checks, but nothing of what was inside.
extension Explanation {
    /// Explains why an encrypted token was not opened.
    ///
    /// - Parameters:
    ///   - text: the encrypted token.
    ///   - names: the checks of the kind of token that was expected.
    ///   - code: the problem's code.
    ///   - detail: the problem's detail: what was found, and what to do.
    package init(unopened text: ArraySlice<UInt8>, _ names: [CheckName], code: String, detail: String) {
        let check = Check.failed(
            .tokenForm, .notOpened(code: code), Diagnosis(sentence: detail),
            expected: "a signed JWT, encrypted to a key of client_keys", found: "an encrypted token (JWE)")
        self.init(
            [check], of: names, notReached: "the token was not opened", contents: TokenContents(ofEncrypted: text))
    }

    /// This explanation of the token inside an encrypted one, with the results of its checks alone.
    package func concealed(inside text: ArraySlice<UInt8>) -> Explanation {
        Explanation(
            checks.map(\.concealed), of: checks.map(\.name),
            validSummary:
                "The token inside passes every check that was made. The nonce, the subject and the hashes were not compared: assay explain --decryption-key compares them.",
            contents: TokenContents(ofEncrypted: text))
    }
}

extension Check {
    fileprivate var concealed: Check {
        switch state {
        case .passed: .passed(name, "The token inside the encrypted one passes this check.")
        case .failed(let refusal):
            .failed(
                name, refusal,
                Diagnosis(
                    "The token inside the encrypted one fails the check \(name.rawValue) (\(refusal.code)).",
                    fix: "Run assay explain --decryption-key where the key is, which shows what was found."))
        case .notReached: .notReached(name, "Not reached: an earlier check failed.")
        case .notAsked: .notAsked(name, "Not made for an encrypted token, or not enabled.")
        }
    }
}

extension VerificationParameters {
    /// Those that reveal nothing about the token by the results of their checks: nobody may find out a subject or a nonce
    /// by guessing.
    package var concealing: VerificationParameters {
        var parameters = VerificationParameters(audience: audience)
        parameters.nonceUse = .ignoreFromClient
        return parameters
    }
}
