/// Traps if a condition is false, so that libFuzzer reports the input.
func require(_ holds: Bool, _ claim: @autoclosure () -> String) {
    guard holds else { fatalError("does not hold: " + claim()) }
}

/// Creates a constant. It does not depend on the input, so it can't fail.
func constant<Value>(_ make: () throws -> Value) -> Value {
    do {
        return try make()
    } catch {
        fatalError("a constant of this target is no good: \(error)")
    }
}

/// The text of octets in UTF-8; otherwise, the octets' description.
func shown(_ octets: some Collection<UInt8>) -> String { String(decoding: octets, as: UTF8.self).debugDescription }
