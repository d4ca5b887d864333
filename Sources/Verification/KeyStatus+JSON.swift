private import Host
package import JSON
package import KeySource

extension KeyStatus {
    /// When the next fetch is planned, in Unix seconds; `nil` while one is in progress.
    ///
    /// - Parameter unixSeconds: the current time.
    package func nextFetchAt(unixSeconds: Int64) -> Int64? { nextFetchIn.map { unixSeconds + $0.secondsRoundedUp } }

    /// Writes why the last fetch failed, or `null`.
    package func writeLastError(to json: inout JSONWriter) {
        guard let lastFailure else { return json.null() }
        json.beginObject()
        json.member("at", lastFailureAtUnixSeconds)
        json.member("phase", lastFailure.phase.rawValue)
        json.member("message", lastFailure.message)
        json.endObject()
    }
}
