import AttributeGraph
import ReactiveGraph

/// What lives of the things that a graph was given. Each has to go when what holds it goes, and not before.
final class Census {
    var values = 0
    var closures = 0
}

/// A number behind a reference that is counted: one that is let go too early, or never, shows.
struct Counted: Equatable {
    private final class Storage {
        let census: Census
        var number: Int

        init(_ number: Int, _ census: Census) {
            self.number = number
            self.census = census
            census.values += 1
        }

        deinit {
            number = Int.min
            census.values -= 1
        }
    }

    private let storage: Storage

    init(_ number: Int, in census: Census) { storage = Storage(number, census) }

    var number: Int { storage.number }

    static func == (one: Counted, other: Counted) -> Bool { one.number == other.number }
}

/// What a closure holds, counted. It may do something with the graph when it goes.
final class Captured {
    private let census: Census
    private let atEnd: (() -> Void)?
    private(set) var isAlive = true

    init(in census: Census, atEnd: (() -> Void)? = nil) {
        self.census = census
        self.atEnd = atEnd
        census.closures += 1
    }

    deinit {
        isAlive = false
        census.closures -= 1
        atEnd?()
    }
}
