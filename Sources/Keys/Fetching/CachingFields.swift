internal import HTTP
internal import NIOHTTP1

/// The header fields that control caching and conditional requests (RFC 9111; RFC 9110, section 8.8).
struct CachingFields: Sendable {
    let cacheControl: String?
    let age: String?
    private let expires: String?
    let date: String?
    private let entityTag: String?
    private let lastModified: String?

    /// Longer validators are ignored, because sending them back would cost too much.
    private static let maximumValidator = 1024

    init(_ headers: HTTPHeaders) {
        let cacheControl = headers["Cache-Control"]
        self.cacheControl = cacheControl.isEmpty ? nil : cacheControl.joined(separator: ",")
        age = headers.first(name: "Age")
        expires = headers.first(name: "Expires")
        date = headers.first(name: "Date")
        entityTag = Self.validator("ETag", headers)
        // Only a valid date can be sent back, in `If-Modified-Since`.
        lastModified = Self.validator("Last-Modified", headers).flatMap { HTTPDate.seconds(from: $0) == nil ? nil : $0 }
    }

    private init(_ new: CachingFields, over old: CachingFields) {
        cacheControl = new.cacheControl ?? old.cacheControl
        // `Age` belongs to this response, not to the document.
        age = new.age
        expires = new.expires ?? old.expires
        date = new.date ?? old.date
        entityTag = new.entityTag ?? old.entityTag
        lastModified = new.lastModified ?? old.lastModified
    }

    private static func validator(_ name: String, _ headers: HTTPHeaders) -> String? {
        headers.first(name: name).flatMap { $0.isEmpty || $0.utf8.count > maximumValidator ? nil : $0 }
    }

    /// The fields after a 304 response has updated them (RFC 9111, section 3.2).
    func updated(with new: CachingFields) -> CachingFields { CachingFields(new, over: self) }

    /// How long the response may be cached; `nil` if it does not say.
    var lifetime: Interval? {
        Freshness.lifetime(cacheControl: cacheControl, age: age, expires: expires, date: date)
    }

    /// The fields that make a request conditional; `nil` if there is no validator.
    var conditions: HTTPHeaders? {
        var headers = HTTPHeaders()
        if let entityTag { headers.add(name: "If-None-Match", value: entityTag) }
        if let lastModified { headers.add(name: "If-Modified-Since", value: lastModified) }
        return headers.isEmpty ? nil : headers
    }
}
