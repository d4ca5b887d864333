/// A page, without what all pages share.
struct Page {
    let title: String
    /// Whether it has columns.
    var isWide = false
    /// Whether its form submits itself.
    var hasScript = false
    let main: HTML

    init(title: String, wide: Bool = false, hasScript: Bool = false, _ main: HTML) {
        (self.title, isWide, self.hasScript, self.main) = (title, wide, hasScript, main)
    }
}

/// The layout that all pages share.
enum Layout {
    /// - Parameter faults: those that are on, with the providers they are on for.
    static func html(_ page: Page, faults: [(fault: Fault, providers: [String])]) -> HTML {
        let script: HTML = page.hasScript ? "<script src=\"/assets/submit.js\" defer></script>" : ""
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="robots" content="noindex">
            <title>\(page.title) · development</title>
            <link rel="icon" href="data:,">
            <link rel="stylesheet" href="/assets/dev.css">
            \(script)
            </head>
            <body class="\(page.isWide ? "wide" : "narrow")">
            <a class="skip" href="#main">Skip to the content</a>
            <header><p><strong>Development</strong> Nothing here is real. Anyone can sign in as anyone.</p>
            <nav aria-label="Pages"><a href="/">All providers</a></nav></header>
            <main id="main" tabindex="-1">
            \(banner(faults))
            \(page.main)
            </main>
            </body>
            </html>

            """
    }

    /// Says which faults are on: otherwise, a refusal on this page seems to be the app's fault.
    private static func banner(_ faults: [(fault: Fault, providers: [String])]) -> HTML {
        guard !faults.isEmpty else { return "" }
        let entries: [HTML] = faults.map {
            "<li><strong>\($0.fault.title)</strong>: \($0.providers.joined(separator: ", "))</li>"
        }
        return """
            <aside class="faults" aria-label="Faults that are on"><p>Faults are on:</p><ul>\(entries)</ul>
            <p><a href="/#faults">Switch them off</a></p></aside>
            """
    }

    /// What a form sends besides what the person fills in.
    static func hidden(_ fields: [(name: String, value: String)]) -> [HTML] {
        fields.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">" }
    }

    /// The rows of a list, without those that have no value.
    static func rows(_ rows: [(name: String, value: String?)]) -> [HTML] {
        rows.compactMap { name, value in value.map { "<dt>\(name)</dt><dd><code>\($0)</code></dd>" } }
    }

    /// A person in a few words.
    static func description(of person: Person) -> HTML {
        var words: [String] = []
        if let email = person.email { words.append(email) }
        if !person.hasVerifiedEmail { words.append("not verified") }
        if let tenant = person.tenant { words.append("tenant \(tenant)") }
        if !person.groups.isEmpty { words.append("groups \(person.groups.joined(separator: ", "))") }
        return
            "<strong>\(person.name ?? "No name")</strong> <span class=\"aside\">\(words.joined(separator: " · "))</span>"
    }

    /// Radio buttons for the people; `chosen` is selected, or else the first.
    static func choices(_ people: People, chosen: String?) -> [HTML] {
        people.all.map { person in
            let isChosen = person.id == chosen ?? people.usual.id
            let checked: HTML = isChosen ? " checked" : ""
            return """
                <label class="choice"><input type="radio" name="person" value="\(person.id)"\(checked)>
                <span>\(description(of: person))</span></label>
                """
        }
    }
}

/// HTML text. Interpolated strings are escaped; interpolated ``HTML`` is not.
struct HTML: ExpressibleByStringInterpolation {
    let text: String

    init(stringLiteral text: String) { self.text = text }
    init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate(set) var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ value: HTML) { text += value.text }
        mutating func appendInterpolation(_ parts: [HTML]) { for part in parts { text += part.text } }
        mutating func appendInterpolation(_ value: String) { text += Self.escaped(value) }

        private static func escaped(_ value: String) -> String {
            var octets: [UInt8] = []
            octets.reserveCapacity(value.utf8.count)
            for octet in value.utf8 {
                switch octet {
                case UInt8(ascii: "&"): octets += "&amp;".utf8
                case UInt8(ascii: "<"): octets += "&lt;".utf8
                case UInt8(ascii: ">"): octets += "&gt;".utf8
                case UInt8(ascii: "\""): octets += "&quot;".utf8
                case UInt8(ascii: "'"): octets += "&#39;".utf8
                default: octets.append(octet)
                }
            }
            return String(decoding: octets, as: UTF8.self)
        }
    }
}

/// JSON text for people: the same members in the same order, each on a line of its own.
enum IndentedJSON {
    /// - Parameter json: valid JSON. Any other text comes out with other line breaks.
    static func text(_ json: [UInt8]) -> String {
        var result: [UInt8] = []
        /// The open brackets.
        var open: [UInt8] = []
        var (isInString, isEscaped) = (false, false)
        let brace = UInt8(ascii: "{")
        func indent() {
            result.append(UInt8(ascii: "\n"))
            result += Array(repeating: UInt8(ascii: " "), count: 2 * open.count { $0 == brace })
        }
        for octet in json {
            if isInString {
                result.append(octet)
                if octet == UInt8(ascii: "\""), !isEscaped { isInString = false }
                isEscaped = octet == UInt8(ascii: "\\") && !isEscaped
                continue
            }
            switch octet {
            case brace, UInt8(ascii: "["):
                result.append(octet)
                open.append(octet)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                let isEmpty = result.last == open.last
                if open.popLast() == brace, !isEmpty { indent() }
                result.append(octet)
            case UInt8(ascii: ","):
                result.append(octet)
                if open.last == brace { indent() } else { result.append(UInt8(ascii: " ")) }
            case UInt8(ascii: ":"): result += ": ".utf8
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): break
            default:
                if open.last == brace, result.last == brace { indent() }
                result.append(octet)
                isInString = octet == UInt8(ascii: "\"")
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
