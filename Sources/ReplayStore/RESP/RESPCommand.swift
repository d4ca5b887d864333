/// A command of Valkey and Redis, as it goes over a connection: an array of bulk strings.
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
    /// Sets a key that is not there, for a time.
    static func setIfAbsent(_ key: [UInt8], to value: [UInt8], milliseconds: Int64) -> RESPCommand {
        RESPCommand(word("SET"), key, value, word("NX"), word("PX"), word(String(milliseconds)))
    }

    static func get(_ key: [UInt8]) -> RESPCommand { RESPCommand(word("GET"), key) }

    /// Waits until as many replicas have what was written over this connection before, or a time has passed.
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
    /// How the server is set in one respect.
    static func setting(_ name: String) -> RESPCommand { RESPCommand(word("CONFIG"), word("GET"), word(name)) }
    static var ping: RESPCommand { RESPCommand(word("PING")) }
    /// The next command may be answered by a node to which its slot is just moving.
    static var asking: RESPCommand { RESPCommand(word("ASKING")) }

    private static func word(_ text: String) -> [UInt8] { Array(text.utf8) }
}
