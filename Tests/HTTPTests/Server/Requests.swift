/// A request without a body.
func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n" }

/// A request with some fields, and the part of its body that is sent.
func post(_ path: String, _ fields: String, _ body: String = "") -> String {
    "POST \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n\(body)"
}
