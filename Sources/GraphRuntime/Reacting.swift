import AttributeGraph
import AttributeValues
import ViewGraph

extension ViewGraph {
    /// Calls the actions that a change has set off, and those that these set off in turn, round by round. Each action
    /// performs all its writes or, if it fails, none; its error becomes the value of the action. Actions read and write
    /// with the rights of their authors and have a budget of their own.
    /// - Parameters:
    ///   - cost: the budget in steps.
    ///   - most: the largest number of writes of one action.
    /// - Returns: the writes of the actions.
    func react(cost: Int, atMost most: Int) -> Commit {
        let done = Commit()
        guard reactions.exist else { return done }
        reactions.begin()
        defer { endDetours() }
        spending(cost, { $0 = min($0, cost - $1) }) { showing(nil) { callRounds(atMost: most, done) } }
        return done
    }

    private func callRounds(atMost most: Int, _ done: Commit) {
        var known = 0
        /// The actions of each round, by their paths.
        var rounds: [[String]] = []
        while case let called = reactions.takeDue(&known), !called.isEmpty {
            guard rounds.count < limits.reactionRounds else {
                for reaction in called { reactions.note(endless(reaction, rounds), of: reaction) }
                break
            }
            rounds.append(called.map(\.path))
            for reaction in called { call(reaction, atMost: most, done) }
        }
    }

    private func call(_ reaction: Reaction, atMost most: Int, _ done: Commit) {
        do throws(Failure) {
            guard let action = reactions.call(of: reaction) else { return }
            let writes = try makeWrites(of: action)
            guard writes.count <= most else {
                throw Failure(.limit, "at most \(most) mutations in a transaction", path: reaction.path)
            }
            begin()
            do throws(Failure) { try perform(writes, of: action) } catch {
                rollBack()
                throw error
            }
            let commit = commit()
            for state in commit.states where done.causes.updateValue(reaction.path, forKey: state) == nil {
                done.states.append(state)
            }
            done.bindingAnimations.merge(commit.bindingAnimations) { $1 }
            reactions.note(nil, of: reaction)
        } catch { reactions.note(error, of: reaction) }
    }

    /// The error of an action that would be called again and again.
    private func endless(_ reaction: Reaction, _ rounds: [[String]]) -> Failure {
        let last = rounds.lastIndex { $0.contains(reaction.path) } ?? rounds.count - 1
        let way = rounds[last...].enumerated().flatMap { $0.offset == 0 ? [reaction.path] : $0.element }
        return Failure(
            .cycle,
            "\(reaction.path) causes its own next call; it was stopped after \(rounds.count) rounds: "
                + (way + [reaction.path]).joined(separator: " → "),
            path: reaction.path, hint: "let the action write only if it has to change a value")
    }

    /// Steps for a mutation, without those for values that it writes and copies.
    static let stepsPerMutation = 5
}
