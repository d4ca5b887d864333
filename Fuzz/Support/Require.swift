/// Ends the process unless something holds, so that libFuzzer reports the input.
func require(_ holds: Bool, _ claim: @autoclosure () -> String) {
    guard holds else { fatalError("does not hold: " + claim()) }
}

/// What a constant of a target must be good for; that it is does not depend on the input.
func constant<Value>(_ make: () throws -> Value) -> Value {
    do {
        return try make()
    } catch {
        fatalError("a constant of this target is no good: \(error)")
    }
}

/// Octets as text where they are UTF-8; what they are shown as where not.
func shown(_ octets: some Collection<UInt8>) -> String { String(decoding: octets, as: UTF8.self).debugDescription }
