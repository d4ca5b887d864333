/// The cases of the service's `Problem` that the files beside the list throw, to avoid a dependency on the HTTP library.
package enum Problem: Error {
    case requestInvalid(String)
    case audienceNotConfigured
}

/// An accepted file, written anew in its shortest form, says the same. A fault names a line of the file, and quotes
/// nothing of it.
func fuzz(_ input: [UInt8]) {
    check(input)
    var draw = Draw(from: input)
    check(Array((0...draw.number(below: 4)).map { _ in line(near: &draw) }.joined().utf8))
}

private func check(_ input: [UInt8]) {
    do throws(IssuerList.Fault) {
        let list = try IssuerList(reading: input, refusing: refusal)
        let written = write(list)
        do throws(IssuerList.Fault) {
            let again = try IssuerList(reading: Array(written.utf8), refusing: refusal)
            require(again == list, "\(written.debugDescription) says the same as \(shown(input))")
        } catch {
            require(false, "\(written.debugDescription) was written, and is refused: \(error)")
        }
    } catch {
        let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        require((1...lines.count).contains(error.line), "line \(error.line) is one of \(shown(input))")
        let words = String(decoding: lines[error.line - 1], as: UTF8.self).split(separator: " ")
        require(
            !words.contains { $0.utf8.count > 12 && error.reason.contains($0) },
            "the reason quotes nothing of \(shown(input))")
    }
}

/// The file in its shortest form.
private func write(_ list: IssuerList) -> String {
    var number = 0
    return list.issuers.map { issuer in
        guard let line = list[issuer] else { return "" }
        require(line.number > number, "the lines are in the order of the file")
        number = line.number
        require(refusal(issuer) == nil, "\(issuer.debugDescription) may be an issuer")
        require(line.audiences?.isEmpty != true, "\(issuer.debugDescription) has an audience")
        require(line.domains.allSatisfy(\.isMailDomain), "\(issuer.debugDescription) has domains only")
        return ([issuer] + (line.audiences ?? ["-"]) + line.domains.map { "@" + $0 }).joined(separator: " ") + "\n"
    }.joined()
}

/// As in the settings, as far as characters go.
private func refusal(_ issuer: String) -> String? {
    issuer.hasPrefix("https://") && issuer.utf8.count > 8 ? nil : "its issuer must be an https URL"
}

/// A line that is close to a good one.
private func line(near draw: inout Draw) -> String {
    let words = ["https://a", "https://b", "-", "x", "@a.example", "@b", "#", "#x", "@", "@-a", "@a..b", "\u{e9}", "", "\t"]
    let start = draw.element(of: ["https://a -", "https://b x", "https://c - @a.example", "https://d x y", "# remark", ""])
    let rest = (0..<draw.number(below: 4)).map { _ in draw.element(of: words) }
    return ([start] + rest).joined(separator: draw.element(of: [" ", " ", "  "])) + draw.element(of: ["\n", "\n", "\r\n", ""])
}
