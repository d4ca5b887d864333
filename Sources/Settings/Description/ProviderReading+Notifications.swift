private import IDToken
internal import Notifications

/// The notifications that a provider sends after sign-in.
extension ProviderReading {
    static let notificationKinds = Setting(
        "notifications", listOf: ValueType<NotificationKind>.word,
        "The kinds of notifications that `POST /v1/notifications/verify` accepts: Apple's server-to-server notifications, logout tokens of OpenID Connect Back-Channel Logout, security event tokens."
    )
    static let notificationAge = Setting(
        "notifications_max_age", .seconds(1...(90 * 86_400)),
        defaultDescription: "`7d` with `notifications`",
        "Maximum age of a notification since its `iat`.")

    /// Must come after the audiences.
    @Sendable static func readNotifications(_ section: Section, _ provider: inout ProviderReading) {
        let kinds = notificationKinds.read(section) ?? []
        let age = notificationAge.read(section)
        guard !kinds.isEmpty else {
            if age != nil, !section.isFaulty(notificationKinds.name) {
                section.refuse(
                    notificationAge.name,
                    "notifications_max_age has no effect without notifications; list the kinds there, or remove it")
            }
            return
        }
        if provider.policy.audiences.isEmpty, section.isWord("none", "audiences") {
            section.refuse(
                notificationKinds.name,
                "notifications need audiences, because only aud says that they are for you; replace audiences: none")
        }
        var rules = NotificationRules(
            kinds: kinds, issuers: provider.facts.notificationIssuers,
            logoutTokensMayLackExpiration: provider.facts.logoutTokensLackExpiration)
        if let age {
            rules.maximumAgeSeconds = age
        } else {
            section.record(notificationAge.name, notificationAge.shown(rules.maximumAgeSeconds), .default)
        }
        provider.notifications = rules
    }
}
