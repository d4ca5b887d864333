package import IDToken

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
        let parts = detail.split(separator: "; ", maxSplits: 1).map(String.init)
        let check = Check.failed(
            .tokenForm, .notOpened(code: code),
            Diagnosis(
                parts[0] + (parts.count > 1 ? "." : ""),
                fix: parts.count > 1 ? parts[1].prefix(1).uppercased() + parts[1].dropFirst() : nil),
            expected: "a signed JWT, encrypted to a key of client_keys", found: "an encrypted token (JWE)")
        self.init(
            [check], of: names, notReached: "the token was not opened", validSummary: "",
            contents: TokenContents(ofEncrypted: text))
    }

    /// This explanation of the token inside an encrypted one, with the results of its checks alone.
    package func concealed(inside text: ArraySlice<UInt8>) -> Explanation {
        Explanation(
            checks.map(\.concealed), of: checks.map(\.name), notReached: "",
            validSummary:
                "The token inside passes every check that was made. The nonce, the subject and the hashes were not compared: assay explain --decryption-key compares them.",
            likelyCause: nil, contents: TokenContents(ofEncrypted: text))
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
