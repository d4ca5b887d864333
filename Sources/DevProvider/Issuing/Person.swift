internal import JOSE

/// A test user.
struct Person: Equatable {
    /// The name that scripts use: in `login_hint`, or as `person` of a request.
    let id: String
    var name: String?
    var email: String?
    var hasVerifiedEmail = true
    /// Whether the provider replaces the email address with a relay address, if it has relay addresses.
    var hidesEmail = false
    /// Apple's `real_user_status`.
    var realUserStatus: Int64 = 2
    /// The tenant, workspace or directory; `nil` for one that the settings accept.
    var tenant: String?
    var groups: [String] = []

    var givenName: String? { name.map { String($0.prefix { $0 != " " }) } }

    var familyName: String? {
        guard let name, let space = name.firstIndex(of: " ") else { return nil }
        return String(name[name.index(after: space)...])
    }

    /// Members of a JSON object that describe a person.
    static let members = [
        "name", "email", "email_verified", "hidden", "real_user_status", "tenant", "groups",
    ]

    /// Reads a person from a request.
    ///
    /// - Throws: ``DevRequestError`` that says what is expected.
    init(_ object: [String: JSONTree]) throws {
        if let unknown = object.keys.sorted().first(where: { !Self.members.contains($0) }) {
            throw DevRequestError(
                "person has the unknown member \(unknown); it may have \(Self.members.joined(separator: ", "))")
        }
        name = try object.text("name")
        email = try object.text("email")
        hasVerifiedEmail = try object.flag("email_verified") ?? true
        hidesEmail = try object.flag("hidden") ?? false
        realUserStatus = try object.number("real_user_status") ?? 2
        tenant = try object.text("tenant")
        if let groups = object["groups"] {
            let names = groups.array?.compactMap(\.string) ?? []
            guard names.count == groups.array?.count else { throw DevRequestError("groups must be a list of strings") }
            self.groups = names
        }
        id = email ?? name ?? "nobody"
    }

    /// Reads a person from the fields of a page.
    init(_ form: FormParameters) {
        name = form["name"]
        email = form["email"]
        hasVerifiedEmail = form["email_verified"] != nil
        hidesEmail = form["hidden"] != nil
        realUserStatus = form["real_user_status"].flatMap(Int64.init) ?? 2
        tenant = form["tenant"]
        groups = (form["groups"] ?? "").split { $0 == "," || $0 == " " }.map(String.init)
        id = email ?? name ?? "nobody"
    }

    init(id: String, name: String, email: String) {
        self.id = id
        self.name = name
        self.email = email
    }
}

/// The people who can be picked on the page.
struct People {
    private(set) var all = Self.first

    /// The built-in people.
    private static let first: [Person] = {
        var kim = Person(id: "kim", name: "Kim Example", email: "kim@example.com")
        kim.hidesEmail = true
        kim.groups = ["staff"]
        let alex = Person(id: "alex", name: "Alex Sample", email: "alex@gmail.com")
        var robin = Person(id: "robin", name: "Robin Doe", email: "robin@example.org")
        robin.hasVerifiedEmail = false
        robin.realUserStatus = 1
        return [kim, alex, robin]
    }()

    /// The maximum number of people to remember.
    private static let capacity = 50

    /// The person whom a script signs in if it does not name one.
    var usual: Person { all.first ?? Person(id: "kim", name: "Kim Example", email: "kim@example.com") }

    /// - Parameter hint: an ID or an email address.
    func named(_ hint: String) -> Person? { all.first { $0.id == hint } ?? all.first { $0.email == hint } }

    /// Adds a person, or replaces the one with the same ID.
    mutating func add(_ person: Person) {
        if let index = all.firstIndex(where: { $0.id == person.id }) {
            all[index] = person
            return
        }
        if all.count >= Self.capacity { all.remove(at: Self.first.count) }
        all.append(person)
    }

    mutating func reset() { all = Self.first }
}
