import ArgumentParser
import HTTP
import JOSE
import Keys

extension Dev {
    struct Token: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Get a token from a running assay dev, bound to a key or a certificate if you ask for that.",
            discussion: """
                Prints a request body for the service: POST /v1/verify, or POST /v1/access-tokens/verify for a provider of \
                access tokens. With --headers, prints the headers of a request to your API instead:

                  assay dev token --provider api --dpop --url http://127.0.0.1:8000/orders --headers |
                      curl -H @- http://127.0.0.1:8000/orders
                  assay dev token --provider api --certificate client.pem --headers |
                      curl -H @- --cert client.pem --key client.key https://api.test/orders
                """)

        @Option(help: "The provider in the settings of assay dev.")
        var provider: String

        @Option(
            help: ArgumentHelp("The address that assay dev printed for its providers.", valueName: "url"))
        var at = "http://127.0.0.1:9400"

        @Option(help: "Whose token. Default: kim.")
        var person: String?

        @Option(help: "The client ID, or the API. Default: the first of the settings.")
        var audience: String?

        @Flag(help: "Bind the access token to a new key, and make a proof with it for --method and --url.")
        var dpop = false

        @Option(help: "With --dpop: the method of the request to your API.")
        var method = "GET"

        @Option(help: "With --dpop: the URL of the request to your API.")
        var url: String?

        @Option(help: "With --dpop: the nonce that your API demands in DPoP-Nonce.")
        var nonce: String?

        @Option(
            help: ArgumentHelp(
                "Bind the access token to the client's certificate in this PEM file.", valueName: "file"))
        var certificate: String?

        @Flag(help: "Print the headers of a request to your API.")
        var headers = false

        func validate() throws {
            guard dpop == (url != nil) else { throw ValidationError("--dpop needs --url, and --url needs --dpop") }
            guard dpop || nonce == nil else { throw ValidationError("--nonce needs --dpop") }
        }

        func run() async throws {
            let answer = try await post(requestBody(certificate: certificate.map(Self.text)))
            guard headers else {
                print(String(decoding: answer, as: UTF8.self), terminator: "")
                return
            }
            guard let members = (try? JSONTree(readingObject: answer))?.object, let token = members["token"]?.string
            else {
                throw ConfigurationError(
                    "--headers needs an access token, but \(provider) issues ID Tokens; name a provider with tokens: access"
                )
            }
            print("Authorization: \(dpop ? "DPoP" : "Bearer") \(token)")
            if let proof = members["dpop"]?.object?["proof"]?.string { print("DPoP: \(proof)") }
        }

        /// - Throws: ``ConfigurationError`` if the file can't be read.
        private static func text(ofFile path: String) throws -> String {
            let maximumSize = 64 * 1024
            do throws(SmallFile.Failure) {
                let file = try SmallFile(path: path, maximumSize: maximumSize, followingLinks: true)
                return String(decoding: file.bytes, as: UTF8.self)
            } catch {
                throw ConfigurationError("--certificate \(path): \(error.text(maximumSize: maximumSize))")
            }
        }

        private func requestBody(certificate: String?) -> [UInt8] {
            var json = JSONWriter()
            json.object { json in
                if let person { json.member("person", person) }
                if let audience { json.member("audience", audience) }
                if let certificate { json.member("certificate", certificate) }
                guard dpop else { return }
                json.object("dpop") { json in
                    json.member("method", method)
                    json.member("url", url)
                    if let nonce { json.member("nonce", nonce) }
                }
            }
            return json.bytes
        }

        /// - Throws: ``ConfigurationError`` if there is no provider, or it refuses the request.
        private func post(_ body: [UInt8]) async throws -> [UInt8] {
            let target: FetchURL
            do throws(FetchFailure) {
                target = try FetchURL("\(at)/\(provider)/token", allowingHTTP: true)
            } catch {
                throw ConfigurationError("--at: \(error.message)")
            }
            let address = ListenAddress.network(host: target.host, port: target.port)
            guard let (status, text) = await address.post(body, to: target.requestTarget) else {
                throw ConfigurationError("nothing answers at \(at); start assay dev, or correct --at")
            }
            guard status == 200 else {
                let error = (try? JSONTree(readingObject: text))?.object?["error"]?.string
                throw ConfigurationError("\(at): \(error ?? "status \(status)")")
            }
            return text
        }
    }
}
