import TestSupport
import Testing

@testable import AttributeValues

@Suite struct ValueMapTests {
    @Test("a map agrees with a list of entries through writes, removals and copies", arguments: freshSeeds(4))
    func agreesWithModel(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names = [10, 60, 600][random.below(3)]
        var map = ValueMap(minimumCapacity: random.below(40))
        var model: [(key: Value, value: Value)] = []
        var copy = (map: map, model: model)
        for step in 0..<2000 {
            let number = random.below(names)
            let key: Value = number.isMultiple(of: 3) ? .int(Int64(number)) : .string("a name of some length \(number)")
            let place = model.firstIndex { $0.key == key }
            if random.chance(40) {
                map[key] = nil
                if let place { model.remove(at: place) }
            } else {
                let value = Value.int(Int64(step))
                map[key] = value
                if let place { model[place].value = value } else { model.append((key, value)) }
            }
            #expect(map.position(of: key) == model.firstIndex { $0.key == key })
            if step.isMultiple(of: 100) { copy = (map, model) }
        }
        for (map, model) in [(map, model), copy] {
            #expect(map.keys == model.map(\.key) && map.values == model.map(\.value))
            #expect(model.indices.allSatisfy { map.position(of: model[$0].key) == $0 })
        }
    }
}
