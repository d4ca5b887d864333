// Posts notifications to docs/clients/swift/Receiver.swift: reads them as JSON, one per line, and writes what it did.

import AssayClient
import Foundation

/// Stands in for the database.
actor Done {
    private var known: Set<[String]> = []
    private var events: [String] = []

    func act(on verified: VerifiedNotification) {
        let notification = verified.notification
        guard known.insert([notification.provider, notification.id]).inserted else { return }
        events = verified.events.map(\.type)
    }

    func take() -> [String] {
        defer { events = [] }
        return events
    }
}

struct Posted: Decodable {
    struct Notification: Decodable {
        var content_type: String
        var body: String
    }

    var receive: Notification
}

struct Said: Encodable {
    var answered: Int
    var done: [String]
}

@main
enum Receive {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        var options = Assay.Options(apiKey: environment["ASSAY_API_KEY"])
        options.retryFor = .zero
        let done = Done()
        let receiver = Receiver(assay: try Assay(environment["ASSAY_URL"] ?? "", options: options)) {
            await done.act(on: $0)
        }
        while let line = readLine() {
            let sent = try JSONDecoder().decode(Posted.self, from: Data(line.utf8)).receive
            let answered = try await receiver.receive(contentType: sent.content_type, body: sent.body)
            let said = Said(answered: answered, done: await done.take())
            FileHandle.standardOutput.write(try JSONEncoder().encode(said) + Data("\n".utf8))
        }
    }
}
