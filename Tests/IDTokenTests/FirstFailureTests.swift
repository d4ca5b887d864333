@testable import IDToken
import Testing

@Suite struct FirstFailureTests {
    @Test func `a check without its inputs fails, and a disabled one does not`() throws {
        let observer = FirstFailure()
        let made = try observer.check(.subject, isEnabled: true, input: { 1 }, rule: { $0 + 1 })
        #expect(made == 2)
        let missing: () -> Int? = { nil }
        #expect(throws: Rejection.cryptographyUnavailable) {
            try observer.check(.subject, isEnabled: true, input: missing) { (_: Int) throws(Rejection) in }
        }
        #expect(try observer.check(.subject, isEnabled: false, input: missing) { (_: Int) throws(Rejection) in } == nil)
    }
}
