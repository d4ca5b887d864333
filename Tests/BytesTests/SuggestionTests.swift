import Bytes
import Testing

@Suite struct SuggestionTests {
    @Test(arguments: [
        ("aple", "apple"), ("Apple", "apple"), ("appel", "apple"), ("goggle", "google"), ("apples", "apple"),
        ("azure_b2c", "azure-b2c"), ("facebook", nil), ("", nil), ("x", nil),
        (String(repeating: "a", count: 9999), nil),
    ])
    func `the nearest name is suggested, if any is near`(text: String, nearest: String?) {
        #expect(Suggestion.nearest(to: text, among: ["apple", "google", "azure-b2c"]) == nearest)
    }

    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("", "ab", 2), ("abc", "abc", 0), ("abc", "acb", 1), ("abcd", "badc", 2),
        ("kitten", "sitting", 3), ("ca", "abc", 3),
    ])
    func `neighbours that change places count once`(one: String, other: String, distance: Int) {
        #expect(Suggestion.distance(Array(one.utf8), Array(other.utf8)) == distance)
        #expect(Suggestion.distance(Array(other.utf8), Array(one.utf8)) == distance)
    }
}
