import AttributeValues

/// The cards of a part of the tree, in rows, as the daemon answers `board`.
struct DashBoard {
    struct Row {
        /// nil for the first row, and for featured cards.
        var title: String?
        var cards: [DashCard]
    }

    var root = "/"
    var title = ""
    var rows: [Row] = []
    /// Cards beyond the limit.
    var omitted = 0
    /// The attributes whose change may change the rows.
    var layout: Set<Name> = []

    init(_ answer: Value) {
        let map = answer.map ?? ValueMap()
        root = map["root"]?.string ?? "/"
        title = map["title"]?.string?.printable ?? ""
        omitted = map["omitted"]?.number.map { Int($0) } ?? 0
        layout = Set(map["layout"]?.list?.compactMap(\.string).map { Name($0) } ?? [])
        rows = (map["rows"]?.list ?? []).compactMap(\.map).map { row in
            Row(
                title: row["title"]?.string?.printable,
                cards: (row["cards"]?.list ?? []).compactMap(\.map).flatMap(DashCard.cards))
        }
    }
}
