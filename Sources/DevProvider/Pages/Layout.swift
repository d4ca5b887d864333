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
