private import Bytes

/// Checks that the person is the one who must have signed in: the same subject, of the same issuer where one is expected.
///
/// - Parameter expected: `nil` where anyone may sign in.
/// - Throws: ``Rejection/subjectMismatch``.
func checkExpectedSubject(_ identity: Identity, _ expected: ExpectedSubject?) throws(Rejection) {
    guard let expected else { return }
    guard identity.subject.isExactly(expected.subject), expected.issuer.map(identity.issuer.isExactly) ?? true else {
        throw .subjectMismatch
    }
}
