import AttributeValues
import TestSupport
import Testing

@Suite("numbers by name")
struct NameIndexTests {
    @Test("an index finds what a dictionary finds", arguments: freshSeeds(20)) func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let ids = (0..<400).map { "n\($0)" }
        func id(_ row: UInt32) -> String { ids[Int(row)] }
        var index = NameIndex()
        var model: [String: UInt32] = [:]
        func check() {
            for name in ids { #expect(index.find(name, id) == model[name]) }
        }
        // The number 0 is not used.
        for row in 1..<UInt32(400) {
            index.add(row, id(row))
            model[id(row)] = row
        }
        check()
        for _ in 0..<2000 {
            let row = UInt32.random(in: 1..<400, using: &random)
            if model.removeValue(forKey: id(row)) == nil {
                index.add(row, id(row))
                model[id(row)] = row
            } else {
                index.remove(row, id(row))
            }
        }
        check()
        for row in model.values where row % 50 != 0 {
            index.remove(row, id(row))
            model[id(row)] = nil
        }
        index.giveBack()
        check()
    }
}
