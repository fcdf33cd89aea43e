import AttributeGraph
import AttributeValues

extension ViewGraph {
    /// Gives back what tables have grown beyond the present tree. O(rows).
    public func packRecords() { attributes.giveBack(keeping: engine.rowCount) }

    /// Gives back memory that a larger tree has needed. Not in an open transaction. O(rows + edges).
    ///
    /// Rows keep their numbers, so the tables are cut behind the last row in use. A free row before it takes some 100
    /// bytes.
    public func giveBack() {
        sweepVertices()
        engine.giveBack()
        attributes.giveBack(keeping: engine.rowCount)
        nodes.giveBack()
        listsByData.giveBack()
        unsettled.giveBack()
        watches.giveBack()
        sharing.giveBack()
        clocks.giveBack()
        timedValues.giveBack()
        animations.giveBack()
        reactions.giveBack()
        triggers.byValue.giveBack()
        giveBackSizes()
        persistence.absentRows.giveBack()
    }
}
