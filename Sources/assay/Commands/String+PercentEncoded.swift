extension String {
    /// With everything but ASCII letters and digits percent-encoded, as the host of an `http+unix` URL needs a path.
    var percentEncoded: String {
        utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            if character.isASCII, character.isLetter || character.isNumber { return String(character) }
            return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
