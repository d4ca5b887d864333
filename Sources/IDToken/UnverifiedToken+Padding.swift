private import JOSE
private import JSON

extension UnverifiedToken {
    /// Reads an assertion of an AWS load balancer, whose parts are padded; see ``JOSE/CompactJWS/init(padded:)``.
    ///
    /// - Throws: ``Rejection/tokenMalformed(_:)``.
    package init(padded text: ArraySlice<UInt8>) throws(Rejection) {
        guard text.count <= Self.maximumLength else { throw .tokenMalformed(.tooLong) }
        do throws(JWSError) {
            jws = try CompactJWS(padded: text)
        } catch {
            throw Rejection(error)
        }
        guard let object = try? JSONObject(jws.payload) else { throw .tokenMalformed(.payload) }
        claims = Claims(object)
    }
}
