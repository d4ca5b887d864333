/// The layout that all pages share.
enum Layout {
    /// - Parameters:
    ///   - wide: whether the page has columns.
    ///   - hasScript: whether its form submits itself.
    static func page(title: String, wide: Bool = false, hasScript: Bool = false, _ main: HTML) -> HTML {
        let script: HTML = hasScript ? "<script src=\"/assets/submit.js\" defer></script>" : ""
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="robots" content="noindex">
            <title>\(title) · development</title>
            <link rel="icon" href="data:,">
            <link rel="stylesheet" href="/assets/dev.css">
            \(script)
            </head>
            <body class="\(wide ? "wide" : "narrow")">
            <a class="skip" href="#main">Skip to the content</a>
            <header><p><strong>Development</strong> Nothing here is real. Anyone can sign in as anyone.</p>
            <nav aria-label="Pages"><a href="/">All providers</a></nav></header>
            <main id="main" tabindex="-1">
            \(main)
            </main>
            </body>
            </html>

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
