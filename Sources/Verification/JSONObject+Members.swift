private import Bytes
private import Grants
package import JSON

/// Reads the members of a request. Unless stated otherwise, `null` means absent, because backends often send `null` for
/// missing values.
extension JSONObject {
    /// A string of limited length.
    ///
    /// - Parameter characters: the permitted number of Unicode scalars.
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

    /// A member that enables a check. `null` is an error: the backend probably lost the value, and the check must not
    /// be skipped.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    package func checkedString(_ name: JSONName, characters: ClosedRange<Int>) throws(Problem) -> String? {
        if let string = try string(name, characters: characters) { return string }
        guard kind(of: name) == .null else { return nil }
        throw .requestInvalid(
            "\(name.string) must not be null, because that would skip its check; send a value, or omit it.")
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

    /// A list of scopes. `null` is an error: the backend probably lost them.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    package func scopes(_ name: JSONName) throws(Problem) -> [String]? {
        guard let value = self[name] else { return nil }
        let scopes = value.elements?.map { $0.string ?? "" }
        guard let scopes, scopes.count <= 64, scopes.allSatisfy(\.isScope) else {
            throw .requestInvalid(
                "scopes must be a list of at most 64 scopes: strings of at most 255 characters without spaces, double quotes or backslashes."
            )
        }
        return scopes
    }
}

func wrongSeconds(_ name: JSONName) -> Problem {
    .requestInvalid("\(name.string) must be an integer number of seconds, 0 or more.")
}

func wrongLength(_ name: JSONName, _ bounds: ClosedRange<Int>) -> String {
    "\(name.string) must be a string of \(bounds.lowerBound) to \(bounds.upperBound) characters."
}
