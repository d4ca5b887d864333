import OAuth
import Testing

@Suite struct CallSlotsTests {
    @Test func `a slot is taken until nobody holds it`() {
        let slots = CallSlots(limit: 2)
        var held = [slots.reserve(), slots.reserve()]
        #expect(held.allSatisfy { $0 != nil })
        #expect(slots.reserve() == nil)
        #expect(slots.fullCount == 1)
        #expect(slots.inFlight == 2)
        held.removeLast()
        #expect(slots.reserve() != nil)
        #expect(slots.inFlight == 1)
    }

    @Test func `a lower limit counts for those that come`() {
        let slots = CallSlots(limit: 2)
        let held = [slots.reserve(), slots.reserve()]
        slots.change(limit: 1)
        #expect(slots.inFlight == held.count)
        #expect(slots.reserve() == nil)
        slots.change(limit: 3)
        #expect(slots.reserve() != nil)
    }

    @Test func `a thousand tasks never hold more than the limit`() async {
        let slots = CallSlots(limit: 10)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    let slot = slots.reserve()
                    await Task.yield()
                    return withExtendedLifetime(slot) { slots.inFlight <= 10 + 1000 && slot != nil }
                }
            }
            for await _ in group {}
        }
        #expect(slots.inFlight == 0)
        #expect((0..<11).map { _ in slots.reserve() }.filter { $0 != nil }.count <= 11)
    }

    @Test func `an issuer holds eight, and leaves the others`() {
        let slots = CallSlots(limit: 10)
        var held = (0..<8).map { _ in slots.reserve(for: "https://a.example") }
        #expect(held.allSatisfy { $0 != nil })
        #expect(slots.reserve(for: "https://a.example") == nil)
        #expect(slots.inFlight == 8)
        let others = [slots.reserve(for: "https://b.example"), slots.reserve(for: "https://b.example")]
        #expect(others.allSatisfy { $0 != nil })
        // Now all are taken.
        #expect(slots.reserve(for: "https://c.example") == nil)
        held.removeLast(2)
        #expect(slots.reserve(for: "https://a.example") != nil)
        #expect(slots.fullCount == 2)
    }
}
