/// The same numbers for the same seed everywhere, so that a run that has failed can be repeated: SplitMix64 (Steele,
/// Lea, Flood 2014).
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    /// From 0 up to the bound, which it is below.
    public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// True so many times in a hundred.
    public mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    public mutating func real(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &self) }

    /// One of the elements, of which there are some.
    public mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
