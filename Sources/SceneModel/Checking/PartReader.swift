/// Reads the parts of a node, which a node and the use of a component share. Its extensions read each part.
struct PartReader {
    let expressions: ExpressionReader
    let computed: ComputedReader
    var cursor: CheckCursor { expressions.cursor }
}
