package import JSON

/// A JWT Claims Set, read claim by claim. Whether its claims may be believed is not for this type to say.
package struct Claims: Sendable {
    /// The whole of it, for showing it.
    package let object: JSONObject

    package init(_ object: JSONObject) { self.object = object }

    /// Whether a claim has a value: neither absent, nor `null`, nor an empty string.
    package func hasValue(_ claim: ClaimName) -> Bool { object.hasValue(claim.json) }

    /// Whether there is a claim of this name, whatever its value.
    package func contains(_ claim: ClaimName) -> Bool { object.kind(of: claim.json) != nil }

    /// A claim that must be a string where it is present.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)``.
    func string(_ claim: ClaimName) throws(Rejection) -> String? {
        do throws(JSONTypeMismatch) { return try object.string(claim.json) } catch { throw .claimInvalid(claim) }
    }

    /// A claim that must be a string where it has a value; `nil` where it is absent or `null`.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)``.
    func optionalString(_ claim: ClaimName) throws(Rejection) -> String? {
        do throws(Rejection) {
            return try string(claim)
        } catch {
            guard object.kind(of: claim.json) == .null else { throw error }
            return nil
        }
    }

    /// A claim that must be a string, as its UTF-8.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)``.
    package func utf8(_ claim: ClaimName) throws(Rejection) -> ArraySlice<UInt8>? {
        do throws(JSONTypeMismatch) { return try object.utf8(claim.json) } catch { throw .claimInvalid(claim) }
    }

    /// A claim that only describes: `nil` where it is absent or of another type, since providers differ (LinkedIn's
    /// `locale` is an object) and no decision hangs on it.
    package func text(_ claim: ClaimName) -> String? { try? object.string(claim.json) }

    /// A claim that only describes, as an integer.
    func integer(_ claim: ClaimName) -> Int64? { try? object.integer(claim.json) }

    /// A claim that only describes, as a list of strings; a single string is a list of one.
    package func texts(_ claim: ClaimName) -> [String] {
        guard let value = object[claim.json] else { return [] }
        if let string = value.string { return [string] }
        return (value.elements ?? []).compactMap(\.string)
    }

    /// What lies at a path; `nil` where it leads nowhere.
    package func value(at path: ClaimPath) -> JSONValue? {
        var value: JSONValue?
        var object: JSONObject? = object
        for step in path.steps {
            value = object?[step.json]
            object = value?.object
        }
        return value
    }

    /// A claim at a path that only describes: a string, or the first one of a list.
    package func text(at path: ClaimPath) -> String? {
        guard let value = value(at: path) else { return nil }
        return value.string ?? value.elements?.first?.string
    }

    /// `aud`: a string, or an array of strings (RFC 7519, section 4.1.3); empty where it is absent, `null` or `[]`.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)``.
    func audiences() throws(Rejection) -> [String] {
        // By itself, as nearly all tokens have it.
        if let string = text(.audience) { return [string] }
        guard let value = object[ClaimName.audience.json], value.kind != .null else { return [] }
        guard let elements = value.elements else { throw .claimInvalid(.audience) }
        var audiences: [String] = []
        for element in elements {
            guard let string = element.string else { throw .claimInvalid(.audience) }
            audiences.append(string)
        }
        return audiences
    }

    /// A NumericDate.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)`` for anything but a number.
    package func time(_ claim: ClaimName) throws(Rejection) -> UnixTime? {
        if let seconds = integer(claim) { return UnixTime(claimedSeconds: seconds) }
        guard let value = object[claim.json] else { return nil }
        guard let time = UnixTime(numericDate: value) else { throw .claimInvalid(claim) }
        return time
    }

    /// A boolean in any of the forms that providers send: `true`, `"true"`, `1`.
    ///
    /// Nothing else: in many a language a non-empty string is true, `"false"` among them.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)``.
    func bool(_ claim: ClaimName) throws(Rejection) -> Bool? {
        switch object.kind(of: claim.json) {
        case nil: return nil
        case .true: return true
        case .false: return false
        case .integer where integer(claim) == 1: return true
        case .integer where integer(claim) == 0: return false
        case .string where object.isString(claim.json, "true"): return true
        case .string where object.isString(claim.json, "false"): return false
        default: throw .claimInvalid(claim)
        }
    }
}
