/// The one-step key derivation function with SHA-256, which RFC 7518 calls Concat KDF.
///
/// - Parameters:
///   - information: *OtherInfo*, which says what the key is for.
///   - length: of the derived key, in octets.
/// - Throws: ``OpenSSLError`` when out of memory.
/// - Source: NIST SP 800-56A, section 5.8.1; RFC 7518, section 4.6.2.
package func concatenationKey(
    from secret: SecretBytes, _ information: [UInt8], length: Int
) throws(OpenSSLError) -> SecretBytes {
    let context = try DigestContext()
    // Reserved at once, because a reallocation would leave a copy of the secret in memory.
    var input: [UInt8] = []
    input.reserveCapacity(4 + secret.count + information.count)
    defer { wipe(&input) }
    input += [0, 0, 0, 0]
    secret.withBytes { for index in $0.indices { input.append($0[index]) } }
    input += information
    var output: [UInt8] = []
    output.reserveCapacity(length + DigestAlgorithm.sha256.outputLength)
    defer { wipe(&output) }
    while output.count < length {
        input[3] += 1
        var block = try context.digest(input.span, with: .sha256)
        output += block
        wipe(&block)
    }
    return try SecretBytes(output.span.extracting(..<length))
}
