internal import Verification
internal import HTTPServer
internal import JSON

extension HTTPRequest {
    /// The JSON object in the body.
    ///
    /// - Throws: ``Problem/contentTypeUnsupported``, ``Problem/requestInvalid(_:)``.
    func jsonObject() throws(Problem) -> JSONObject {
        guard isJSON(head.fields["Content-Type"]), !head.fields.contains("Content-Encoding")
        else { throw .contentTypeUnsupported }
        do throws(JSONError) {
            return try JSONObject(body, allowsNUL: true)
        } catch {
            throw .requestInvalid(
                JSONErrorLocation(in: body[...], allowsNUL: true)?.sentence ?? "The body must be a JSON object.")
        }
    }

    /// `application/json`, with no parameter other than `charset=utf-8`.
    private func isJSON(_ contentType: HeadSlice?) -> Bool {
        guard let contentType else { return false }
        if contentType == "application/json" { return true }
        let parts = contentType.string.lowercased().split(separator: ";").map {
            $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
        }
        return parts.first == "application/json" && parts.dropFirst().allSatisfy { $0 == "charset=utf-8" }
    }
}

extension JSONErrorLocation {
    /// Describes what is wrong with a body, and where. Quotes nothing, because any byte may be part of a token.
    var sentence: String {
        let place = "byte offset \(offset) (line \(line), column \(column))"
        return switch error {
        case .syntax where offset == 0 && isAtEnd: "The body is empty; send one JSON object."
        case .syntax where isAtEnd: "The body is not valid JSON: it ends too early, at \(place)."
        case .syntax: "The body is not valid JSON: there is a syntax error at \(place)."
        case .encoding: "The body is not UTF-8, or has a lone surrogate or a NUL in a name, at \(place)."
        case .duplicateMember: "The body has an object with two members of the same name, which ends at \(place)."
        case .tooDeep:
            "The body has objects or arrays nested more than \(JSONLimits.maximumDepth) levels deep, at \(place)."
        case .numberOutOfRange: "The body has a number that is out of range, which ends at \(place)."
        case .notAnObject: "The body is not a JSON object, but another JSON value; send one JSON object."
        }
    }
}
