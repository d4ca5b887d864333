/// A Valkey or Redis command, encoded as an array of bulk strings.
struct RESPCommand: Equatable, Sendable {
    let arguments: [[UInt8]]

    init(_ arguments: [UInt8]...) { self.arguments = arguments }

    var octets: [UInt8] {
        var octets = Array("*\(arguments.count)\r\n".utf8)
        for argument in arguments {
            octets += Array("$\(argument.count)\r\n".utf8)
            octets += argument
            octets += [0x0d, 0x0a]
        }
        return octets
    }
}

extension RESPCommand {
    /// Sets a key with an expiry, unless it exists.
    static func setIfAbsent(_ key: [UInt8], to value: [UInt8], milliseconds: Int64) -> RESPCommand {
        RESPCommand(word("SET"), key, value, word("NX"), word("PX"), word(String(milliseconds)))
    }

    /// Replaces a value that exists, and its expiry.
    static func replace(_ key: [UInt8], by value: [UInt8], milliseconds: Int64) -> RESPCommand {
        RESPCommand(word("SET"), key, value, word("XX"), word("PX"), word(String(milliseconds)))
    }

    static func get(_ key: [UInt8]) -> RESPCommand { RESPCommand(word("GET"), key) }

    static func delete(_ key: [UInt8]) -> RESPCommand { RESPCommand(word("DEL"), key) }

    /// Waits until enough replicas have all earlier writes of this connection, or until a timeout.
    static func wait(replicas: Int, milliseconds: Int64) -> RESPCommand {
        RESPCommand(word("WAIT"), word(String(replicas)), word(String(milliseconds)))
    }

    /// - Parameter username: `nil`: the default user.
    static func authenticate(username: String?, password: [UInt8]) -> RESPCommand {
        if let username {
            RESPCommand(word("AUTH"), word(username), password)
        } else {
            RESPCommand(word("AUTH"), password)
        }
    }

    static func select(_ database: Int) -> RESPCommand { RESPCommand(word("SELECT"), word(String(database))) }
    /// Reads a setting of the server.
    static func setting(_ name: String) -> RESPCommand { RESPCommand(word("CONFIG"), word("GET"), word(name)) }
    /// Reads a section of the server's report about itself.
    static func information(_ section: String) -> RESPCommand { RESPCommand(word("INFO"), word(section)) }
    static var ping: RESPCommand { RESPCommand(word("PING")) }
    /// Allows the next command to access a slot that is being migrated to the node.
    static var asking: RESPCommand { RESPCommand(word("ASKING")) }

    private static func word(_ text: String) -> [UInt8] { Array(text.utf8) }
}
