private import IDToken
package import JSON
package import Notifications

/// The answer for a verified notification: who sent it, its events, and the keys that were used.
package struct NotificationAnswer: TokenAnswer {
    let provider: String
    package let notification: VerifiedNotification
    let keys: KeysUsed

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.object("notification") { json in
                json.member("provider", provider)
                json.member("issuer", notification.issuer)
                json.member("kind", notification.kind.rawValue)
                json.member("id", notification.id)
                json.member("issued_at", notification.issuedAt.seconds)
            }
            json.objects("events", notification.events) { json, event in
                json.member("type", event.type.rawValue)
                json.member("subject", event.subject)
                json.member("session_id", event.sessionID)
                json.member("email", event.email)
                json.member("is_private_email", event.isPrivateEmail)
                json.member("occurred_at", event.occurredAt?.seconds)
                json.member("reason", event.reason)
                json.name("data")
                json.raw(event.data[...])
            }
            json.name("keys")
            keys.write(to: &json)
        }
    }
}
