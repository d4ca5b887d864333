private import Bytes
package import JSON

/// The members of a request. Unless said otherwise, one that is `null` is absent, as backends write what they don't have.
extension JSONObject {
    /// A string of a certain length.
    ///
    /// - Parameter characters: how many Unicode scalars it may have.
    /// - Throws: ``Problem/requestInvalid(_:)``.
    package func string(_ name: JSONName, characters: ClosedRange<Int>) throws(Problem) -> String? {
        do throws(JSONTypeMismatch) {
            guard let string = try self.string(name) else { return nil }
            if string.hasScalars(characters) { return string }
        } catch {
            if kind(of: name) == .null { return nil }
        }
        throw .requestInvalid(wrongLength(name, characters))
    }

    /// A member that switches a check on: where it is `null`, a backend has lost what to check, and the check must not be left out.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``, also where it is `null`.
    package func checkedString(_ name: JSONName, characters: ClosedRange<Int>) throws(Problem) -> String? {
        if let string = try string(name, characters: characters) { return string }
        guard kind(of: name) == .null else { return nil }
        throw .requestInvalid(
            "\(name.string) must not be null, since that would skip its check; send it, or leave it out.")
    }

    /// - Throws: ``Problem/requestInvalid(_:)``.
    package func boolean(_ name: JSONName) throws(Problem) -> Bool? {
        do throws(JSONTypeMismatch) {
            return try bool(name)
        } catch {
            if kind(of: name) == .null { return nil }
            throw .requestInvalid("\(name.string) must be true or false.")
        }
    }

    /// A number of seconds, 0 or more.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    package func seconds(_ name: JSONName) throws(Problem) -> Int64? {
        do throws(JSONTypeMismatch) {
            guard let seconds = try integer(name) else { return nil }
            if seconds >= 0 { return seconds }
        } catch {
            if kind(of: name) == .null { return nil }
        }
        throw wrongSeconds(name)
    }
}

func wrongSeconds(_ name: JSONName) -> Problem {
    .requestInvalid("\(name.string) must be an integer number of seconds, 0 or more.")
}

func wrongLength(_ name: JSONName, _ bounds: ClosedRange<Int>) -> String {
    "\(name.string) must be a string of \(bounds.lowerBound) to \(bounds.upperBound) characters."
}
