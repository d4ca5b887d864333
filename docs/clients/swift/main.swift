// Reads sign-ins as JSON, one a line, and says of each what Assay said.

import Foundation

struct Said: Encodable {
    var verified: Identity?
    var refused: String?
    var unavailable: Int?
    var error: Int?
    var code: String?
}

let environment = ProcessInfo.processInfo.environment
let assay = Assay(url: environment["ASSAY_URL"] ?? "http://127.0.0.1:8080", apiKey: environment["ASSAY_API_KEY"])

while let line = readLine() {
    var said = Said()
    do {
        switch try await assay.verify(JSONDecoder().decode(SignIn.self, from: Data(line.utf8))) {
        case .verified(let identity): said.verified = identity
        case .refused(let code, _, _): said.refused = code
        case .unavailable(let retryAfter): said.unavailable = retryAfter
        }
    } catch let error as AssayError {
        said.error = error.status
        said.code = error.code
    }
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    FileHandle.standardOutput.write(try encoder.encode(said) + Data("\n".utf8))
}
try await assay.shutdown()
