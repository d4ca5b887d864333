/// The calls that a development provider makes: to the service beside it, and to backends that receive notifications.
package struct DevCalls: Sendable {
    /// Posts a JSON object to the service; `nil` if it does not answer.
    let service: @Sendable (_ path: String, _ body: [UInt8]) async -> Answer?
    /// Posts a request to `POST /v1/explain` of the admin listener; `nil` if it does not answer.
    let explain: @Sendable (_ body: [UInt8]) async -> Answer?
    /// Posts a notification; `nil` if nothing answers.
    let deliver: @Sendable (_ url: String, _ contentType: String, _ body: [UInt8]) async -> Answer?

    /// Whether notifications may go to other machines.
    let deliversAnywhere: Bool

    package init(
        deliversAnywhere: Bool,
        service: @escaping @Sendable (_ path: String, _ body: [UInt8]) async -> Answer?,
        explain: @escaping @Sendable (_ body: [UInt8]) async -> Answer?,
        deliver: @escaping @Sendable (_ url: String, _ contentType: String, _ body: [UInt8]) async -> Answer?
    ) {
        self.deliversAnywhere = deliversAnywhere
        self.service = service
        self.explain = explain
        self.deliver = deliver
    }

    package struct Answer: Sendable {
        let status: Int
        let body: [UInt8]

        package init(status: Int, body: [UInt8]) {
            self.status = status
            self.body = body
        }
    }
}
