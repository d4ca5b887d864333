import Bytes
import Verification

/// However the header fields of a request are written, a token that is found is one word of them, a second one is an
/// error, and other fields change nothing.
///
/// Each line of the input is a field. Its first letter says which: `a` is `Authorization`, `c` is `Cookie`, `x` is `X`, `s` is
/// `Sec-WebSocket-Protocol`.
func fuzz(_ input: [UInt8]) {
    let lines = input.split(separator: UInt8(ascii: "\n")).map { Line(name: $0[$0.startIndex], value: $0.dropFirst()) }
    let fields = Fields(lines: lines)
    for sources in [bearer, [cookie], bearer + [cookie], [cookie] + bearer, [.header("X", scheme: nil)]] {
        guard case .success(let found) = token(sources, in: fields) else { continue }
        require(!found.isEmpty && found.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: ",") }, "one word")
        require(lines.contains { isPart(found, of: $0.value) }, "the token is in the request")
        let other = Fields(lines: lines + [Line(name: UInt8(ascii: "o"), value: Array("Bearer b; session=b".utf8)[...])])
        guard case .success(found) = token(sources, in: other) else { return require(false, "other fields change nothing") }
    }
    checkHandshake(lines)
    checkChunks(lines)
    checkSecond(UInt8(ascii: "a"), "Bearer b", bearer, lines)
    checkSecond(UInt8(ascii: "c"), "session=b", [cookie], lines)
    checkSecond(UInt8(ascii: "x"), "b", [.header("X", scheme: nil)], lines)
}

private let bearer = [TokenSource.bearer]
private let cookie = TokenSource.cookie("session")

/// A token among the protocols of a WebSocket is taken out, and nothing else is.
private func checkHandshake(_ lines: [Line]) {
    let others = lines.filter { $0.name != UInt8(ascii: "u") && $0.name != UInt8(ascii: "o") }
    let handshake = [Line(name: UInt8(ascii: "u"), value: Array("websocket".utf8)[...]), Line(name: UInt8(ascii: "o"), value: Array("https://a".utf8)[...])]
    let policy = ForwardAuthPolicy(id: "p", providers: [], sources: [.webSocketProtocol(origins: ["https://a"])])
    guard let sent = try? policy.token(in: Fields(lines: others + handshake)) else { return }
    let items = others.filter { $0.name == UInt8(ascii: "s") }.flatMap { $0.value.split(separator: UInt8(ascii: ",")) }
        .filter { $0.contains { $0 != 0x20 && $0 != 0x09 } }
    let left = (sent.webSocketProtocols ?? "").utf8.split(separator: UInt8(ascii: ","))
    require(left.count == items.count - 1 && !left.isEmpty, "\(shown(others)) has one token among its protocols")
}

/// Chunks of a cookie are joined, and one is never used alone.
private func checkChunks(_ lines: [Line]) {
    let sources = [TokenSource.cookie("session", isChunked: true)]
    guard case .success(let found) = token(sources, in: Fields(lines: lines)) else { return }
    let next = Line(name: UInt8(ascii: "c"), value: Array("session.7=b".utf8)[...])
    guard case .success(let other) = token(sources, in: Fields(lines: lines + [next])) else { return }
    require(other.elementsEqual(found + Array("b".utf8)), "\(shown(lines)) has seven chunks")
}

/// Of two tokens in one source, none counts.
private func checkSecond(_ name: UInt8, _ value: String, _ sources: [TokenSource], _ lines: [Line]) {
    guard case .success = token(sources, in: Fields(lines: lines)) else { return }
    let second = Line(name: name, value: Array(value.utf8)[...])
    for both in [lines + [second], [second] + lines] {
        guard case .failure(.tokenUnreadable) = token(sources, in: Fields(lines: both)) else {
            return require(false, "\(shown(lines)) with a second token is unreadable")
        }
    }
}

private func token(_ sources: [TokenSource], in fields: Fields) -> Result<ArraySlice<UInt8>, Denial> {
    let policy = ForwardAuthPolicy(id: "p", providers: [], sources: sources)
    do throws(Denial) {
        return .success(try policy.token(in: fields).text)
    } catch {
        return .failure(error)
    }
}

private struct Line {
    let name: UInt8
    let value: ArraySlice<UInt8>
}

private struct Fields: RequestFields {
    let lines: [Line]

    func values(named name: String) -> [ArraySlice<UInt8>] {
        let first = name.utf8.first?.asciiLowercased
        return lines.filter { $0.name == first }.map(\.value)
    }
}

private func isPart(_ part: ArraySlice<UInt8>, of whole: ArraySlice<UInt8>) -> Bool {
    (0...max(whole.count - part.count, 0)).contains { whole.dropFirst($0).starts(with: part) }
}

private func shown(_ lines: [Line]) -> String {
    String(describing: lines.map { String(decoding: $0.value, as: UTF8.self) })
}
