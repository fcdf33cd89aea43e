import AttributeValues
import TestSupport
import Testing

@Suite("Lists")
struct ValueListTests {
    @Test("a list is what an array with the same edits is", arguments: freshSeeds(3))
    func edits(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (list, array) = (ValueList(), [Value]())
        var earlier: (ValueList, [Value]) = ([], [])
        for number in 0..<4_000 {
            let element = Value.int(Int64(number))
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<5 where !array.isEmpty:
                let place = Int.random(in: 0...array.count, using: &random)
                list.insert(element, at: place)
                array.insert(element, at: place)
            case 5 where !array.isEmpty:
                let place = array.indices.randomElement(using: &random) ?? 0
                #expect(list.remove(at: place) == array.remove(at: place))
            case 6 where !array.isEmpty:
                let place = array.indices.randomElement(using: &random) ?? 0
                list[place] = element
                array[place] = element
            case 7 where number % 10 == 0:
                let range =
                    (0...array.count).randomElement(using: &random).map { $0..<min(array.count, $0 + 40) } ?? 0..<0
                let new = [Value](repeating: element, count: Int.random(in: 0..<300, using: &random))
                list.replaceSubrange(range, with: new)
                array.replaceSubrange(range, with: new)
            case 8 where number % 100 == 0: earlier = (list, array)
            default:
                list.append(element)
                array.append(element)
            }
        }
        #expect(array.count > 2_000)
        #expect(list.array == array && Array(list) == array && list.indices.map { list[$0] } == array)
        #expect(earlier.0.array == earlier.1, "a copy is not changed")
        #expect(list == ValueList(array), "chunks are cut in another way")
        #expect(list.hashValue == ValueList(array).hashValue)
        #expect(list != earlier.0)
        list[array.count / 2] = .null
        #expect(list != ValueList(array))
        while !list.isEmpty { list.remove(at: list.count / 3) }
        #expect(list == [])
    }

    @Test("runs of identical elements are as long as one by one", arguments: freshSeeds(3))
    func runs(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let list = ValueList((0..<3_000).map { .int($0) })
        for _ in 0..<200 {
            var other = list
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let place = Int.random(in: 0..<2_990, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: other.insert(.null, at: place)
                case 1: other.remove(at: place)
                default: other[place] = .null
                }
            }
            let x = Int.random(in: 0..<1_000, using: &random)
            let count = min(list.count, other.count) - x
            var expected = 0
            while expected < count, list[x + expected] == other[x + expected] { expected += 1 }
            #expect(IdenticalRun.countFrom(list, from: x, other, from: x, count: count) == expected)
            var fromEnd = 0
            while fromEnd < count, list[list.count - 1 - fromEnd] == other[other.count - 1 - fromEnd] { fromEnd += 1 }
            #expect(IdenticalRun.countFromEnd(list, other, count: count) == fromEnd)
        }
    }
}
