private import Bytes

/// Checks that the expected user signed in: the subject must match, and the issuer too if one is expected.
///
/// - Parameter expected: `nil` if any user may sign in.
/// - Throws: ``Rejection/subjectMismatch``.
package func checkExpectedSubject(_ identity: Identity, _ expected: ExpectedSubject?) throws(Rejection) {
    guard let expected else { return }
    guard identity.subject.isExactly(expected.subject), expected.issuer.map(identity.issuer.isExactly) ?? true else {
        throw .subjectMismatch
    }
}
