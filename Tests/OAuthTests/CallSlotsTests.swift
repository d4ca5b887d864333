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
}
