internal import Host
internal import NIOHTTP1

/// What a response's header says of how it may be kept, and how to ask whether it still holds (RFC 9111; RFC 9110, 8.8).
struct CachingFields: Sendable {
    let cacheControl: String?
    let age: String?
    private let expires: String?
    let date: String?
    private let entityTag: String?
    private let lastModified: String?

    /// Longer than this, and a validator is not worth its bytes.
    private static let maximumValidator = 1024

    init(_ headers: HTTPHeaders) {
        let cacheControl = headers["Cache-Control"]
        self.cacheControl = cacheControl.isEmpty ? nil : cacheControl.joined(separator: ",")
        age = headers.first(name: "Age")
        expires = headers.first(name: "Expires")
        date = headers.first(name: "Date")
        entityTag = Self.validator("ETag", headers)
        // One that is no date could not be sent back as one.
        lastModified = Self.validator("Last-Modified", headers).flatMap { HTTPDate.seconds(from: $0) == nil ? nil : $0 }
    }

    private init(_ new: CachingFields, over old: CachingFields) {
        cacheControl = new.cacheControl ?? old.cacheControl
        // Of one response, not of the document.
        age = new.age
        expires = new.expires ?? old.expires
        date = new.date ?? old.date
        entityTag = new.entityTag ?? old.entityTag
        lastModified = new.lastModified ?? old.lastModified
    }

    private static func validator(_ name: String, _ headers: HTTPHeaders) -> String? {
        headers.first(name: name).flatMap { $0.isEmpty || $0.utf8.count > maximumValidator ? nil : $0 }
    }

    /// The fields as they are once a 304 has brought new ones (RFC 9111, 3.2).
    func updated(with new: CachingFields) -> CachingFields { CachingFields(new, over: self) }

    /// How long the response may be kept; `nil` where it does not say.
    var lifetime: Interval? {
        Freshness.lifetime(cacheControl: cacheControl, age: age, expires: expires, date: date)
    }

    /// What makes a request conditional on the document having changed; `nil` where nothing can.
    var conditions: HTTPHeaders? {
        var headers = HTTPHeaders()
        if let entityTag { headers.add(name: "If-None-Match", value: entityTag) }
        if let lastModified { headers.add(name: "If-Modified-Since", value: lastModified) }
        return headers.isEmpty ? nil : headers
    }
}
