internal import HTTPListener
internal import JSON

extension HTTPRequest {
    /// The JSON object that a call carries.
    ///
    /// - Throws: ``Problem/contentTypeUnsupported``, ``Problem/requestInvalid(_:)``.
    func jsonObject() throws(Problem) -> JSONObject {
        guard isJSON(head.fields["Content-Type"]), !head.fields.contains("Content-Encoding")
        else { throw .contentTypeUnsupported }
        do throws(JSONError) {
            return try JSONObject(body, allowsNUL: true)
        } catch {
            throw .requestInvalid("The body must be one JSON object in UTF-8, without duplicate members.")
        }
    }

    /// `application/json`, with no parameter but `charset=utf-8`.
    private func isJSON(_ contentType: HeadText?) -> Bool {
        guard let contentType else { return false }
        if contentType == "application/json" { return true }
        let parts = contentType.string.lowercased().split(separator: ";").map {
            $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
        }
        return parts.first == "application/json" && parts.dropFirst().allSatisfy { $0 == "charset=utf-8" }
    }
}
