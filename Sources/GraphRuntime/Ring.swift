/// The last elements, in order.
struct Ring<Element> {
    private var elements: [Element] = []
    private var start = 0
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var count: Int { elements.count }

    /// True if the next element takes the place of the oldest one.
    var isFull: Bool { elements.count == capacity }

    mutating func append(_ element: consuming Element) {
        if elements.count < capacity {
            elements.append(element)
        } else {
            elements[start] = element
            start = start + 1 == capacity ? 0 : start + 1
        }
    }

    subscript(position: Int) -> Element { elements[(start + position) % elements.count] }
}
