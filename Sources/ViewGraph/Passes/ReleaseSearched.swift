// Reads and writes: `unsettled.searched`.
// Leaves: no place in a value retains the list that was searched for it. Lists are retained only while many elements
// are looked up together.

extension ViewGraph {
    func releaseSearched() {
        for tree in unsettled.searched { tree.forgetLocators() }
        unsettled.searched = []
    }
}
