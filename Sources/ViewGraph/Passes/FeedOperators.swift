import AttributeGraph

// Reads: `unsettled.operators`, and their operands.
// Writes: the pasts of these operators, their rows for the store, and when each has to be evaluated next.
// Leaves: the past of each operator has the present value of its operand.

extension ViewGraph {
    func feedOperators() {
        for value in unsettled.takeOperators() where engine.isAlive(value.vertex) {
            if feed(value) { stored.keep(value) }
            timedValues.schedule(value)
        }
    }
}
