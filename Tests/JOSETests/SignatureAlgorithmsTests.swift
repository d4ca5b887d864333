import JOSE
import Testing

@Suite struct SignatureAlgorithmsTests {
    @Test(arguments: SignatureAlgorithm.allCases)
    func `an algorithm is in no other's set`(_ algorithm: SignatureAlgorithm) {
        let alone: SignatureAlgorithms = [algorithm]
        #expect(!alone.isEmpty)
        #expect(alone.elements == [algorithm])
        #expect(SignatureAlgorithm.allCases.filter(alone.contains) == [algorithm])
        #expect(SignatureAlgorithms.all.contains(algorithm))
    }

    @Test func `a set knows no order and no repetition, and lists its algorithms in theirs`() {
        let set: SignatureAlgorithms = [.ed448, .es256, .rs256, .es256]
        #expect(set == [.rs256, .es256, .ed448])
        #expect(set.elements == [.rs256, .es256, .ed448])
        #expect(SignatureAlgorithms.all.elements == SignatureAlgorithm.allCases)
    }

    @Test func `the empty set has nothing`() {
        #expect(SignatureAlgorithms().isEmpty)
        #expect(SignatureAlgorithms() == [])
        #expect(!SignatureAlgorithm.allCases.contains(where: SignatureAlgorithms().contains))
    }

    @Test func `what two sets have in common, and what they have together`() {
        let (left, right): (SignatureAlgorithms, SignatureAlgorithms) = ([.rs256, .es256], [.es256, .edDSA])
        #expect(left.intersection(right) == [.es256])
        #expect(left.intersection([.ps256]).isEmpty)
        var both = left
        both.formUnion(right)
        #expect(both == [.rs256, .es256, .edDSA])
    }

    @Test func `a set without Ed448 has EdDSA, and keeps it out of what it has in common with others`() {
        let narrow = SignatureAlgorithms.all.withoutEd448
        #expect(narrow.elements == SignatureAlgorithm.allCases.filter { $0 != .ed448 })
        #expect(narrow.intersection([.edDSA]) == SignatureAlgorithms([.edDSA]).withoutEd448)
        #expect(narrow.intersection([.edDSA]).elements == [.edDSA])
    }
}
