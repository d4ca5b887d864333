import IDToken
import SignInFixtures
import Testing

/// Rules for the values of claims.
@Suite struct ClaimRuleTests {
    private func rejection(_ rule: ClaimRule, _ claim: String, _ json: String?) -> Rejection? {
        let signIn = SignIn.plain.policy { $0.claimRules = [rule] }
        return (json.map { signIn.with(claim, $0) } ?? signIn).rejection
    }

    private func ruled(_ values: [String], _ json: String?) -> Rejection? {
        rejection(ClaimRule(ClaimPath("use"), .oneOf, values), "use", json)
    }

    @Test func `a claim with one of the values passes`() {
        #expect(ruled(["id"], #""id""#) == nil)
        #expect(ruled(["a", "id"], #""id""#) == nil)
        #expect(ruled(["id"], #""\u0069d""#) == nil)
        #expect(ruled([""], #""""#) == nil)
    }

    @Test(arguments: ["access", "ID", "i", "idd", " id", "id ", "", "i\u{307}d"])
    func `any other value is invalid`(value: String) {
        #expect(ruled(["id"], "\"\(value)\"") == .invalid("use"))
    }

    @Test func `an absent claim is missing, and so is one that is null`() {
        #expect(ruled(["id"], nil) == .missing("use"))
        #expect(ruled(["id"], "null") == .missing("use"))
    }

    @Test func `a boolean and an integer are what JSON writes, and strings of it are the same`() {
        for json in ["true", #""true""#] { #expect(ruled(["true"], json) == nil) }
        for json in ["false", "1", #""1""#, #""True""#] { #expect(ruled(["true"], json) == .invalid("use")) }
        for json in ["20", #""20""#] { #expect(ruled(["20"], json) == nil) }
        for json in ["20.0", "2e1", "21", "-20", #""020""#] { #expect(ruled(["20"], json) == .invalid("use")) }
    }

    @Test(arguments: [#"["id"]"#, #"["a","id"]"#, #"[5,{},["a"],null,"id"]"#, #"["id","id"]"#])
    func `a list with one of the values passes`(json: String) {
        #expect(ruled(["id"], json) == nil)
        #expect(ruled(["x", "id"], json) == nil)
        #expect(ruled(["a b", "i"], json) == .invalid("use"))
    }

    @Test(arguments: ["[]", #"["ID"]"#, #"["i","d"]"#, #"[["id"]]"#, #"[{"id":"id"}]"#, "[null]"])
    func `a list without any of the values is invalid`(json: String) {
        #expect(ruled(["id"], json) == .invalid("use"))
    }

    @Test func `a list with a value that is refused is invalid, and so is one with what can't be compared`() {
        let rule = ClaimRule(ClaimPath("use"), .noneOf, ["access", "1"])
        for json in ["[]", #"["id"]"#, #"["id","ACCESS",2,true]"#] { #expect(rejection(rule, "use", json) == nil) }
        for json in [#"["access"]"#, #"["id","access"]"#, "[1]", "[1.5]", "[null]", #"[["access"]]"#, "[{}]"] {
            #expect(rejection(rule, "use", json) == .invalid("use"))
        }
    }

    // MARK: Groups that are too many to list

    @Test(arguments: [
        ("_claim_names", #"{"groups":"src1"}"#), ("_claim_names", #"{"x":"src2","groups":null}"#),
        ("hasgroups", "true"),
        ("hasgroups", #""true""#),
    ])
    func `no rule for groups can be checked if there are too many to list`(claim: String, json: String) {
        for kind in [ClaimRule.Kind.oneOf, .noneOf, .absent] {
            let signIn = SignIn.plain.policy { $0.claimRules = [ClaimRule(ClaimPath("groups"), kind, ["a"])] }
            #expect(signIn.with(claim, json).rejection == .groupsOverage)
            #expect(signIn.with("groups", "[]").with(claim, json).rejection == .groupsOverage)
        }
        let byPointer = SignIn.plain.policy { $0.claimRules = [ClaimRule(ClaimPath("/groups"), .oneOf, ["a"])] }
        #expect(byPointer.with(claim, json).rejection == .groupsOverage)
        let required = SignIn.plain.policy { $0.requiredClaims = [ClaimName("groups")] }
        #expect(required.with(claim, json).rejection == .groupsOverage)
        let other = SignIn.plain.policy { $0.claimRules = [ClaimRule(ClaimPath("roles"), .oneOf, ["a"])] }
        #expect(other.with(claim, json).rejection == .missing("roles"))
        #expect(SignIn.plain.with(claim, json).rejection == nil)
    }

    @Test(arguments: [
        ("_claim_names", "{}"), ("_claim_names", #"{"Groups":"src1"}"#), ("_claim_names", #"["groups"]"#),
        ("_claim_names", "null"), ("hasgroups", "false"), ("hasgroups", "null"),
    ])
    func `anything else says nothing of groups`(claim: String, json: String) {
        let signIn = SignIn.plain.policy { $0.claimRules = [ClaimRule(ClaimPath("groups"), .oneOf, ["a"])] }
        #expect(signIn.with(claim, json).rejection == .missing("groups"))
        #expect(signIn.with("groups", #"["b","a"]"#).with(claim, json).rejection == nil)
    }

    @Test(arguments: ["{}", #"{"id":"id"}"#, "1.5", "12345678901234567890"])
    func `what is neither a value nor a list is invalid under either kind of rule`(json: String) {
        #expect(ruled(["id", "1.5"], json) == .invalid("use"))
        #expect(rejection(ClaimRule(ClaimPath("use"), .noneOf, ["access"]), "use", json) == .invalid("use"))
    }

    @Test func `a value that is refused is invalid, any other passes, and so does none`() {
        let rule = ClaimRule(ClaimPath("sts"), .noneOf, ["pending", "ended"])
        #expect(rejection(rule, "sts", #""pending""#) == .invalid("sts"))
        #expect(rejection(rule, "sts", #""ended""#) == .invalid("sts"))
        #expect(rejection(rule, "sts", #""active""#) == nil)
        #expect(rejection(rule, "sts", nil) == nil)
        #expect(rejection(rule, "sts", "null") == nil)
    }

    @Test func `all rules hold, the first that does not is told, after the claims that are required`() {
        let signIn = SignIn.plain.policy {
            $0.requiredClaims = [ClaimName("c")]
            $0.claimRules = [ClaimRule(ClaimPath("a"), .oneOf, ["1"]), ClaimRule(ClaimPath("b"), .oneOf, ["2"])]
        }
        #expect(signIn.rejection == .missing("c"))
        #expect(signIn.with("c", "0").rejection == .missing("a"))
        #expect(signIn.with("c", "0").with("a", "1").rejection == .missing("b"))
        #expect(signIn.with("c", "0").with("a", "2").with("b", "2").rejection == .invalid("a"))
        #expect(signIn.with("c", "0").with("a", "1").with("b", "2").rejection == nil)
    }

    // MARK: Paths

    @Test(arguments: [
        ("/firebase/tenant", #"{"tenant":"one"}"#, "firebase"), ("/a~1b/c", #"{"c":"one"}"#, "a/b"),
        ("/a~0b/c", #"{"c":"one"}"#, "a~b"), ("/a~01b/c", #"{"c":"one"}"#, "a~1b"),
        ("/a//c", #"{"":{"c":"one"}}"#, "a"),
        ("/a", #""one""#, "a"), ("https://slack.com/team_id", #""one""#, "https://slack.com/team_id"),
        ("cognito:username", #""one""#, "cognito:username"), ("a.b", #""one""#, "a.b"),
    ])
    func `a claim within a claim is found by its JSON Pointer, any other by its name`(
        path: String, json: String, claim: String
    ) {
        let rule = ClaimRule(ClaimPath(path), .oneOf, ["one"])
        #expect(rejection(rule, claim, json) == nil)
        #expect(rejection(rule, claim, json.replacing("one", with: "two")) == .invalid(path))
        #expect(rejection(rule, claim, nil) == .missing(path))
    }

    @Test(arguments: ["1", #""tenant""#, "[]", #"[{"tenant":"one"}]"#, "null", "{}", #"{"Tenant":"one"}"#])
    func `a path that leads nowhere finds nothing`(json: String) {
        #expect(
            rejection(ClaimRule(ClaimPath("/firebase/tenant"), .oneOf, ["one"]), "firebase", json)
                == .missing("/firebase/tenant"))
    }
}
