/// What keeps a request from being read to its end.
package enum HTTPFault: Error, Equatable {
    /// No HTTP/1.1 that two readers would understand the same way.
    case malformed
    /// A field that may come once came twice, and two readers could go by different ones.
    case repeatedField(String)
    /// The head exceeds the limits on header fields.
    case headersTooLarge
    /// The body exceeds the responder's limit, or says that it will.
    case bodyTooLarge
    /// Head or body were not there in time.
    case timeout
    /// Too many connections, or too many requests under way.
    case overloaded
}
