@testable import DevProvider
import Testing

/// JSON for people.
@Suite struct IndentedJSONTests {
    @Test func `members keep their order, each on a line`() {
        let json = #"{"z":{"b":1,"a":[1,"x"]},"y":[],"x":{},"w":[{"c":null}]}"#
        let text = """
            {
              "z": {
                "b": 1,
                "a": [1, "x"]
              },
              "y": [],
              "x": {},
              "w": [{
                "c": null
              }]
            }
            """
        #expect(IndentedJSON.text(Array(json.utf8)) == text)
    }

    @Test(arguments: [#"{"a":"{,:[\\\""}"#, #"{"a":"}"}"#, "[]", "{}", "", "null", #"{"a": "ä — {"}"#])
    func `strings stay as they are`(json: String) throws {
        let text = IndentedJSON.text(Array(json.utf8))
        #expect(text.filter { !$0.isWhitespace } == json.filter { !$0.isWhitespace })
    }

    @Test func `what is indented is indented the same`() {
        let once = IndentedJSON.text(Array(#"{"a":{"b":[1,{"c":2}]},"d":""}"#.utf8))
        #expect(IndentedJSON.text(Array(once.utf8)) == once)
    }
}
