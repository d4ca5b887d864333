internal import HTTP
internal import JOSE
internal import NIOCore
internal import NIOHTTP1
internal import OpenSSL

/// The endpoints with which tests and the panel change faults, keys and people. A request from a form on the page is
/// redirected back to the page.
extension DevResponder {
    func control(_ path: String, _ request: HTTPRequest) -> HTTPReply {
        let isForm = request.isForm
        func done(_ answer: JSONTree) -> HTTPResponse { isForm ? .redirect("/") : .json(answer) }
        do {
            let members = try isForm ? request.form().members : request.members()
            switch path {
            case "/faults": return .now(done(try setFault(members)))
            case "/people": return .now(done(try changePerson(members)))
            case "/rotate": return try rotate(members, done)
            default:
                try members.checkNames([])
                reset()
                return .now(done(.object(["reset": .bool(true)])))
            }
        } catch let error as DevRequestError {
            return .now(.error(.badRequest, error.text))
        } catch {
            return .now(.error(.internalServerError, "signing failed"))
        }
    }

    /// Resets what tests change: faults, grants and people. Keys are kept, so that no client has to fetch them again.
    private func reset() {
        people.reset()
        for id in providers.ids {
            providers[id]?.faults.reset()
            providers[id]?.grants = IssuedGrants()
            providers[id]?.registered = [:]
        }
    }

    // MARK: Faults

    /// Each fault, its consequence, and the providers for which it is switched on.
    func faultList() -> JSONTree {
        .array(
            Fault.allCases.map { fault in
                .object([
                    "fault": .string(fault.rawValue), "title": .string(fault.title),
                    "causes": .string(fault.consequence), "on": .array(providers.with(fault).map(JSONTree.string)),
                ])
            })
    }

    private func setFault(_ members: [String: JSONTree]) throws -> JSONTree {
        var members = members
        // A button submits only one name and value, so `off` names the fault to switch off.
        if let fault = members.removeValue(forKey: "off") { (members["fault"], members["on"]) = (fault, .bool(false)) }
        try members.checkNames(["provider", "fault", "on", "seconds"])
        let known = Fault.allCases.map(\.rawValue).joined(separator: ", ")
        guard let name = try members.text("fault") else {
            throw DevRequestError("fault is missing; it must be one of \(known)")
        }
        guard let fault = Fault(rawValue: name) else {
            throw DevRequestError("fault is \(name); it must be one of \(known)")
        }
        let seconds = try members.number("seconds")
        if seconds != nil, fault.usualSeconds == nil { throw DevRequestError("seconds does not apply to \(name)") }
        guard (0...Fault.maximumSeconds).contains(seconds ?? 0) else {
            throw DevRequestError("seconds must be 0 to \(Fault.maximumSeconds)")
        }
        let isOn = try members.flag("on") ?? true
        for id in try chosen(members) { providers[id]?.faults.set(fault, on: isOn, seconds: seconds) }
        return faultList()
    }

    /// The providers that a request is about: one, an entry's issuers, or all.
    ///
    /// - Throws: ``DevRequestError``, or ``OpenSSLError``.
    private func chosen(_ members: [String: JSONTree]) throws -> [String] {
        guard let id = try members.text("provider"), !id.isEmpty else { return Array(providers.ids) }
        guard let chosen = try providers.ids(for: id) else {
            let known = settings.flatMap { $0.issuers == nil ? [$0.id] : [$0.id, $0.shown.id] }
            throw DevRequestError("provider is \(id); it must be one of \(known.joined(separator: ", "))")
        }
        return chosen
    }

    // MARK: Keys

    /// Generates new keys, and responds once they are in use.
    private func rotate(
        _ members: [String: JSONTree], _ done: @escaping (JSONTree) -> HTTPResponse
    ) throws -> HTTPReply {
        try members.checkNames(["provider", "in_place"])
        let inPlace = try members.flag("in_place") ?? false
        let ids = try chosen(members)
        return .later { [self] in
            do {
                let made = ids.compactMap { providers[$0] }.map { ($0.id, makeKey($0.settings)) }
                for (id, key) in made { try providers[id]?.keys.rotate(to: try await key.get(), inPlace: inPlace) }
                return done(.object(["rotated": .bool(true)]))
            } catch {
                return .error(.internalServerError, "no key could be generated")
            }
        }
    }

    // MARK: People

    /// Adds a person, or revokes a person's authorizations, as if they had removed the app from their account.
    private func changePerson(_ members: [String: JSONTree]) throws -> JSONTree {
        guard members["revoke"] != nil else {
            people.add(try Person(members))
            return .array(people.all.map(\.json))
        }
        try members.checkNames(["provider", "revoke"])
        let person = try person(members["revoke"])
        for id in try chosen(members) { providers[id]?.grants.withdraw(person.id) }
        return .object(["revoked": .string(person.id)])
    }
}

extension Person {
    var json: JSONTree {
        .object([
            "id": .string(id), "name": name.map(JSONTree.string) ?? .null, "email": email.map(JSONTree.string) ?? .null,
            "email_verified": .bool(hasVerifiedEmail), "hidden": .bool(hidesEmail),
            "real_user_status": .integer(realUserStatus), "tenant": tenant.map(JSONTree.string) ?? .null,
            "groups": .array(groups.map(JSONTree.string)),
        ])
    }
}
