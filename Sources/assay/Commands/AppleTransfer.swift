import ArgumentParser
import FoundationEssentials
import HTTP
import IDToken
import Keys
import NIOPosix
import OAuth

extension Apple {
    struct Transfer: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move users to another Apple team.",
            discussion: """
                When an app moves to another team, Apple gives each user a new subject. Before the transfer, the old team \
                gets a transfer identifier for each user. Within 60 days after the transfer, the new team redeems them.

                  assay apple transfer generate --recipient-team-id TEAM654321 \\
                    --input subjects.txt --output generated.ndjson
                  assay apple transfer redeem --input transfer-subjects.txt \\
                    --output redeemed.ndjson

                docs/moving-teams.md describes both steps.
                """,
            subcommands: [Generate.self, Redeem.self])

        struct Generate: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "As the old team: get a transfer identifier for each user.",
                discussion: """
                    Reads subjects, one per line or the column subject of a CSV, and appends a JSON object for each to the output file:

                      {"subject":"…","recipient_team_id":"…","outcome":"done",
                       "transfer_subject":"…"}

                    \(TransferOptions.discussion)
                    """)

            @Option(
                help: ArgumentHelp("The Team ID of the team that receives the app: ten characters.", valueName: "id"))
            var recipientTeamID: String

            @OptionGroup var client: AppleClientOptions
            @OptionGroup var options: TransferOptions

            func validate() throws { try checkAppleIdentifier(recipientTeamID, "--recipient-team-id") }

            func run() async throws {
                let client = try client.client()
                guard client.teamID != recipientTeamID else {
                    throw ConfigurationError(
                        "the client \(client.id) belongs to the team \(recipientTeamID) itself; --recipient-team-id must be the other team's ID"
                    )
                }
                try await options.run(.generate(recipientTeamID: recipientTeamID), as: client)
            }
        }

        struct Redeem: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "As the new team: get each user's new subject for a transfer identifier.",
                discussion: """
                    Reads transfer identifiers, one per line or the column transfer_subject of a CSV, and appends a JSON object for each to the output file:

                      {"transfer_subject":"…","outcome":"done","subject":"…",
                       "email":"…","is_private_email":true}

                    \(TransferOptions.discussion)
                    """)

            @OptionGroup var client: AppleClientOptions
            @OptionGroup var options: TransferOptions

            func run() async throws { try await options.run(.redeem, as: try client.client()) }
        }
    }
}

/// The options of both steps of a transfer.
struct TransferOptions: ParsableArguments {
    static let discussion = """
        The outcome "refused" means that Apple returned an error for this user, who has most likely revoked the app's \
        access. "failed" means that four attempts brought no result, so another run may help.

        At the end, the command lists the input lines of users who are not done. After a stop, run the same command \
        again: users with a result are skipped, and those that failed are tried again. The exit code is 0 if every \
        user is done, 1 if another run may help, and 2 if all users who are not done were refused.
        """

    @Option(
        help: ArgumentHelp(
            "The file with the users: one per line, or CSV with a first line that names the columns. Without this option, standard input is read.",
            valueName: "file"),
        completion: .file())
    var input: String?

    @Option(
        help: ArgumentHelp("The file for the results (NDJSON), which only you can read.", valueName: "file"),
        completion: .file())
    var output: String

    @Option(help: ArgumentHelp("Maximum number of requests per second, 1 to 100.", valueName: "number"))
    var rate = 5

    @Flag(help: "Also retry users that Apple refused in an earlier run.")
    var retryRefused = false

    func validate() throws {
        guard (1...100).contains(rate) else { throw ValidationError("--rate must be 1 to 100 requests per second") }
    }

    func run(_ step: TransferStep, as client: AppleClient) async throws {
        let users = try TransferInput.read(input, of: step)
        let results = try TransferResults(path: output, step)
        let rest = users.map(\.id).filter { results.isPending($0, retryingRefused: retryRefused) }
        let calls = try ClientCalls(
            client.provider, try ProxyEnvironment.read(from: ProcessInfo.processInfo.environment),
            on: MultiThreadedEventLoopGroup.singleton.next(),
            maximumInFlight: UserMigrations<ContinuousClock>.maximumInFlight(requestsPerSecond: rate))
        defer { calls.stop() }
        let token = try calls.appleTokenEndpoint()
        let endpoint = try calls.userMigrationEndpoint(besides: token)
        let migrations = UserMigrations(requestsPerSecond: rate, clock: ContinuousClock()) {
            await calls.clientCredentials("user.migration", for: client.id, at: token).map { grant in
                let lifetime = grant.expiresAt.map { $0.seconds - SystemClocks.unixSeconds() } ?? 3600
                return (grant.accessToken, .seconds(lifetime))
            }
        } migrate: { request, token in
            await calls.migrate(request, with: token, by: client.id, at: endpoint)
        }
        let progress = TransferProgress(total: users.count, before: users.count - rest.count)
        do {
            try await migrations.run(rest.map(step.request)) { request, outcome in
                try results.append(request, outcome)
                progress.count(outcome)
            }
        } catch let error as UserMigrationUnauthorized {
            progress.interrupt()
            throw ConfigurationError(unauthorized(error.failure, client))
        } catch {
            progress.interrupt()
            throw error
        }
        progress.finish()
        let statuses = users.map { (user: $0, status: results.status(of: $0.id)) }
        printToStandardError((list(statuses) + summary(statuses.map(\.status), step)).joined(separator: "\n"))
        if statuses.contains(where: \.status.isPending) { throw ExitCode(1) }
        if statuses.contains(where: \.status.isRefused) { throw ExitCode(2) }
    }

    /// The users without a final result, with their lines in the input.
    private func list(_ statuses: [(user: TransferInput.User, status: TransferResults.Status)]) -> [String] {
        let maximum = 100
        let open = statuses.compactMap { user, status in
            status.text.map { "line \(user.line): \(user.id): \($0)" }
        }
        let more = open.count > maximum ? ["and \(open.count - maximum) more, also in \(output)"] : []
        return open.prefix(maximum) + more
    }

    private func unauthorized(_ failure: CallFailure, _ client: AppleClient) -> String {
        switch failure {
        case .clientRejected(let error):
            AppleClientDiagnosis(client: client).explanation(of: error, isKeyAccepted: false)
        case .refused(let error):
            "\(client.id): Apple issues no access token for the scope user.migration: \(error.rawValue)"
        default:
            "\(client.id): there is no access token, because Apple can't be reached or does not respond (\(CallOutcome(failure).rawValue)). Run assay apple check to see why, then the same command again"
        }
    }

    private func summary(_ statuses: [TransferResults.Status], _ step: TransferStep) -> [String] {
        let (refused, pending) = (statuses.count(where: \.isRefused), statuses.count(where: \.isPending))
        let done = statuses.count - refused - pending
        var lines = [
            "\(statuses.count) \(statuses.count == 1 ? "user" : "users"): \(done) done, \(refused) refused, \(pending) failed. Results: \(output)"
        ]
        if refused > 0, done == 0, pending == 0 {
            lines.append("Apple refused every user: \(step.check)")
        } else if refused > 0 {
            lines.append("A refused user has most likely revoked the app's access. --retry-refused tries again.")
        }
        if pending > 0 { lines.append("Run the same command again for those that failed.") }
        return lines
    }
}

/// A step of a transfer.
enum TransferStep: Sendable, Equatable {
    case generate(recipientTeamID: String)
    case redeem

    /// - Parameter user: a line of the input.
    func request(_ user: String) -> UserMigrationRequest {
        switch self {
        case .generate(let team): .generate(subject: user, recipientTeamID: team)
        case .redeem: .redeem(transferSubject: user)
        }
    }

    /// The name of an input line in messages.
    var noun: String {
        switch self {
        case .generate: "subject"
        case .redeem: "transfer identifier"
        }
    }

    /// The accepted names of the column of users in the input. The first is also the member's name in results.
    var columns: [String] {
        switch self {
        case .generate: ["subject", "sub"]
        case .redeem: ["transfer_subject", "transfer_sub"]
        }
    }

    /// A hint for the case that Apple refuses every user.
    fileprivate var check: String {
        switch self {
        case .generate: "do the subjects belong to this client's team, and is --recipient-team-id right?"
        case .redeem: "are these transfer identifiers for this team, and is the app's transfer at most 60 days old?"
        }
    }
}

extension UserMigrationRequest {
    /// The line of the input.
    var user: String {
        switch self {
        case .generate(let subject, _): subject
        case .redeem(let transferSubject): transferSubject
        }
    }
}
