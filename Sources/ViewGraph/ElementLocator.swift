import AttributeValues

/// Finds elements of a list by a field. The first few searches go through the list, later ones use an index.
struct ElementLocator {
    /// Lists of up to this length, and up to this many searches of one list, are not worth an index.
    static let scanned = 8

    /// The list that was searched last.
    private(set) var list: ValueList?
    /// True if it is known that each id occurs once in the list.
    private(set) var isUnique = false
    private var searches = 0
    private var places: [Value: Int] = [:]

    init() {}

    init(unique list: ValueList) { (self.list, isUnique) = (list, true) }

    /// Keeps only the list, if its ids are known to be unique.
    mutating func releaseSearches() {
        if isUnique, let list { self = ElementLocator(unique: list) } else { self = ElementLocator() }
    }

    /// The position of the first element with an id.
    mutating func findElement(_ id: Value, _ field: String, in list: ValueList) -> Int? {
        if self.list?.isIdentical(to: list) != true {
            self = ElementLocator()
            self.list = list
        }
        searches += 1
        guard searches > ElementLocator.scanned else { return list.position(of: id, by: field) }
        if places.isEmpty {
            places.reserveCapacity(list.count)
            // The first element with an id counts: it is entered last.
            for position in list.indices.reversed() {
                if let id = list[position].id(by: field) { places[id] = position }
            }
        }
        return places[id]
    }
}
