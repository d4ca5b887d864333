import ArgumentParser
import Glibc
import OpenSSL
import SignIns

struct Key: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Generate keys for sign-ins.", subcommands: [New.self])

    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Generate a key that encrypts sign-ins.",
            discussion: """
                Prints 32 random bytes in base64, for a file under sign_ins.key_files. Give every instance the same file, readable \
                only by Assay:

                  (umask 077; assay key new > sign-ins.key)
                """)

        func run() throws {
            // Bytes instead of a String, so that the key can be overwritten in memory.
            var text = try HandleKeys.newKeyFile()
            defer { wipe(&text) }
            guard unsafe write(STDOUT_FILENO, text, text.count) == text.count else {
                throw ConfigurationError(text: "the key can't be written to standard output")
            }
        }
    }
}
