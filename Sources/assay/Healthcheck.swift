import ArgumentParser
import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Settings

struct Healthcheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a running service for its health: for containers that have no curl.",
        discussion: "Exits with 0 if the service answers /livez (or, with --ready, /readyz) with 200; else with 1.")

    @OptionGroup var file: ConfigurationFile

    @Flag(help: "Ask whether it is ready, not just whether it runs.")
    var ready = false

    @Option(help: "The service's address, host:port or unix:/path, instead of the one in the settings.")
    var address: String?

    func run() async throws {
        let listen: Settings.Listen
        if let address {
            guard let given = Settings.Listen(address) else {
                throw ValidationError("--address must be host:port or unix:/path")
            }
            listen = given
        } else {
            listen = try file.settings().service
        }
        do {
            var request = HTTPClientRequest(url: url(listen, ready ? "/readyz" : "/livez"))
            // For a socket the client sends no host of its own.
            if case .unixSocket = listen { request.headers.add(name: "Host", value: "localhost") }
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(3))
            guard response.status == .ok else {
                print("unhealthy: status \(response.status.code)")
                throw ExitCode(1)
            }
        } catch let exit as ExitCode {
            throw exit
        } catch {
            print("unhealthy: no answer")
            throw ExitCode(1)
        }
    }

    private func url(_ listen: Settings.Listen, _ path: String) -> String {
        switch listen {
        case .unixSocket(let socket): return "http+unix://" + percentEncoded(socket) + path
        case .network(let host, let port):
            // What listens on every address answers on this one.
            let reached = host == "0.0.0.0" ? "127.0.0.1" : host == "::" ? "::1" : host
            return "http://" + (reached.contains(":") ? "[\(reached)]" : reached) + ":\(port)" + path
        }
    }

    private func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            if character.isASCII, character.isLetter || character.isNumber { return String(character) }
            return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
