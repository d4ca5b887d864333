import Foundation

/// A transport for your own tests, whose answers the test writes. All rules of the real client apply; waiting takes no time.
///
///     let fake = FakeTransport()
///     let assay = Assay(transport: fake)
///     fake.will(.finish, ["identity": ["subject": "user-1"]])
///     fake.willFail(.finish, 422, Code.tokenExpired)
///     fake.willNotAnswer(.finish, sent: true)
///
/// Answers are used in their order, for each call. A call without one throws `NoAnswerLeft`.
public final class FakeTransport: Transport, @unchecked Sendable {
    public enum Call: String, Sendable, CaseIterable {
        case begin, finish, proof, refresh, revoke, verify
        case beginInBrowser = "begin_in_browser"
        case finishInBrowser = "finish_in_browser"
        case revokeCode = "revoke_code"
        case signOut = "sign_out"
        case verifyAccessToken = "verify_access_token"
        case verifyNotification = "verify_notification"
    }

    /// The test has to call `will` for this call first.
    public struct NoAnswerLeft: Error {
        public var call: Call
    }

    private let lock = NSLock()
    private var answers: [Call: [Result<Reply, NoAnswer>]] = [:]
    private var sent: [(Call, [String: JSONValue])] = []
    private var slept: Duration = .zero

    public init() {}

    /// Every request that would have been sent: its call and its members.
    public var requests: [(call: Call, members: [String: JSONValue])] { lock.withLock { sent } }

    /// How long the client would have waited before it sent a request again.
    public var waited: Duration { now() }

    /// `call` succeeds. `changes` change an example: `["identity": ["subject": "user-1"]]` keeps its other members.
    public func will(_ call: Call, _ changes: JSONValue = [:]) {
        switch call {
        case .revoke, .revokeCode: add(call, .success(Reply(status: 204, body: [])))
        default:
            let every = try? JSONDecoder().decode([String: JSONValue].self, from: Data(examples.utf8))
            let answer = Self.merged(every?[call.rawValue], changes)
            let status = call == .begin || call == .beginInBrowser ? 201 : 200
            add(call, .success(Reply(status: status, body: Self.octets(answer))))
        }
    }

    /// `call` fails with this problem, for example with `["spent": true]`.
    public func willFail(
        _ call: Call, _ status: Int, _ code: String, _ members: JSONValue = [:], retryAfter: Int? = nil
    ) {
        let problem: JSONValue = [
            "status": .integer(Int64(status)), "code": .string(code), "detail": "scripted", "request_id": "fake",
        ]
        let body = Self.octets(Self.merged(problem, members))
        add(call, .success(Reply(status: status, body: body, retryAfter: retryAfter)))
    }

    /// The connection fails: after the request was sent, or before.
    public func willNotAnswer(_ call: Call, sent: Bool) {
        add(call, .failure(NoAnswer(sent: sent)))
    }

    public func send(
        path: String, body: [UInt8], headers: [(String, String)], timeout: Duration, once: Bool
    ) async throws -> Reply {
        let members = (try? JSONDecoder().decode([String: JSONValue].self, from: Data(body))) ?? [:]
        let call = Self.call(path, members)
        let answer = lock.withLock { () -> Result<Reply, NoAnswer>? in
            sent.append((call, members))
            return answers[call].flatMap { $0.isEmpty ? nil : $0[0] }.map { first in
                answers[call]?.removeFirst()
                return first
            }
        }
        guard let answer else { throw NoAnswerLeft(call: call) }
        return try answer.get()
    }

    public func now() -> Duration { lock.withLock { slept } }

    public func sleep(_ duration: Duration) async throws { lock.withLock { slept += duration } }

    private func add(_ call: Call, _ answer: Result<Reply, NoAnswer>) {
        lock.withLock { answers[call == .revokeCode ? .revoke : call, default: []].append(answer) }
    }

    private static func call(_ path: String, _ members: [String: JSONValue]) -> Call {
        switch path {
        case "/v1/sign-ins": members["redirect_uri"] == nil ? .begin : .beginInBrowser
        case "/v1/sign-ins/finish": members["response"] == nil ? .finish : .finishInBrowser
        case "/v1/grants/refresh": .refresh
        case "/v1/grants/proof": .proof
        case "/v1/grants/revoke": .revoke
        case "/v1/sign-outs": .signOut
        case "/v1/access-tokens/verify": .verifyAccessToken
        case "/v1/notifications/verify": .verifyNotification
        default: .verify
        }
    }

    private static func merged(_ example: JSONValue?, _ changes: JSONValue) -> JSONValue {
        guard case .object(let old) = example, case .object(let new) = changes else { return changes }
        return .object(old.merging(new) { merged($0, $1) })
    }

    private static func octets(_ value: JSONValue) -> [UInt8] {
        (try? JSONEncoder().encode(value)).map(Array.init) ?? []
    }
}
