import AttributeValues
import CSimulatedKernel
import CommandArguments
import DaemonServer
import StateStore
import TestSupport

// What is tried when the world is at rest, and at its end.
extension World {
    static let backupFile = "/sim/backup.db"
    static let changesBeforeCut = 30

    /// [Algorithm] Of the rules behind a write those run that have read something that has changed, each once.
    /// They are judged with the next chapter.
    func countRuns() {
        var model = judgement.model
        for _ in 0..<4 where faults.isEmpty && daemon != nil { countRuns(&model) }
    }

    private func countRuns(_ model: inout Model) {
        let number = generator.below(Model.views)
        let value = Value.int(Int64(generator.below(10)))
        guard let wanted = model.rulesToRun(ofView: number, settingOwn: value),
            let client = clients.first(where: { $0.role == .writer && !$0.hasEnded }), connect(client),
            readEverything() != nil, let before = ask("stats", "{}")?.integer("evaluations")
        else { return }
        let change = Model.Change.set("/w/v\(number).n", value)
        _ = model.perform([change])
        let operation = Operation(
            .change([change]), "transact {\"mutations\":[\(change.text)]}", author: client.author, low: latest)
        send(client, "transact", "{\"mutations\":[\(change.text)]}", .operation(operation))
        settle { client.pending.isEmpty }
        guard readEverything() != nil, let after = ask("stats", "{}")?.integer("evaluations") else { return }
        if !wanted.contains(Int(after - before)) {
            let rules = wanted.lowerBound
            fault("[Algorithm] \(change.text) runs \(after - before) rules, and \(rules) have read what it changes")
        }
    }

    /// [durability] A power cut in a row of changes. The disk may lose the last ones, but none before one that it has;
    /// with `full` none that was acknowledged.
    func losePower() {
        isCalm = true
        defer { isCalm = false }
        if generator.chance(configuration.durability == .full ? 40 : 80) {
            // The row is the first that a life does, so that the disk may lose what the start has written.
            stop()
            sim_write_back()
            if faults.isEmpty { restart() }
            if faults.isEmpty, daemon != nil {
                var model = judgement.model
                model.restart(edition)
                judgement.become(model, at: begun)
            }
        } else {
            // The kernel writes what is some seconds old.
            sim_write_back()
        }
        guard faults.isEmpty, daemon != nil, !sim_is_dead(), !isDiskFaulty,
            let client = clients.first(where: { $0.role == .writer && !$0.hasEnded }), connect(client)
        else { return }
        tell("a row of changes, and a power cut in it")
        acknowledged = []
        var models = [judgement.model]
        for number in 1...World.changesBeforeCut {
            var changes: [Model.Change] = [.add("/bank.x0", 1)]
            switch number % 4 {
            case 0: changes.append(.set("/w.text", .string(String(repeating: "y", count: 100 * number))))
            case 1: changes.append(.set("/w/v1.n", .int(Int64(number))))
            case 2: changes.append(.set("/w.items", number % 8 == 2 ? ["i1"] : ["i1", "i2", "i3"]))
            default: break
            }
            var next = models[number - 1]
            _ = next.perform(changes)
            models.append(next)
            send(client, "transact", "{\"mutations\":[\(changes.map(\.text).joined(separator: ","))]}", .change)
        }
        let seen = Set(clients.compactMap { $0.connection == nil ? nil : $0.number })
        let first = committed
        let calls = generator.below(60)
        isPowerCut = true
        sim_kill(Int64(calls))
        for _ in 0..<60 where daemon != nil {
            turn()
            for other in clients where seen.contains(other.number) && other.connection != nil {
                for line in other.lines() { receive(other, line) }
            }
            sim_advance(1_000_000)
        }
        if daemon != nil {
            sim_kill(0)
            send(client, "ping", "{}", .ping)
            for _ in 0..<60 where daemon != nil {
                client.flush()
                turn()
            }
        }
        guard daemon == nil else { return fault("the power cut does not come") }
        for other in clients where other.connection != nil { for line in other.lines() { receive(other, line) } }
        mayBeDamaged = configuration.durability == .off
        restart()
        mayBeDamaged = false
        guard faults.isEmpty, daemon != nil, let (values, revision) = readEverything() else { return }
        judgeCut(models, first, values, revision)
        isRecovering = false
    }

    private func judgeCut(_ models: [Model], _ first: Int64, _ values: Value, _ revision: Int64) {
        // What expires meanwhile has revisions of its own.
        var last = first
        for (number, told) in acknowledged.enumerated() {
            if told <= last { fault("[Order] change \(number) of a row is told at \(told), and \(last) was before it") }
            last = told
        }
        let told = Judgement.contents(values)
        // A damaged store that was recovered may have lost anything, but invents nothing.
        if isRecovering { return judgeRecovered(told, models, revision) }
        // The row counts in an account.
        let counter = "/bank.x0"
        let kept = models.indices.last { index in
            guard told[counter] == models[index].states[counter].map({ ["value": $0] }) else { return false }
            var model = models[index]
            model.restart(edition)
            return Judgement.firstDifference(told, model.contents()) == nil
        }
        guard let kept else {
            // The one that comes closest has the same count.
            var model =
                models.last { told[counter] == $0.states[counter].map { ["value": $0] } } ?? models[acknowledged.count]
            model.restart(edition)
            let difference = Judgement.firstDifference(told, model.contents()) ?? ""
            return fault(
                "[durability] behind a power cut with \(configuration.durability) the store is no beginning of what was written; "
                    + "\(acknowledged.count) changes were acknowledged, and behind them \(difference)")
        }
        if configuration.durability == .full, kept < acknowledged.count {
            fault("[Durability] \(kept) changes are left of \(acknowledged.count) that were acknowledged")
        }
        tell("\(acknowledged.count) were acknowledged and \(kept) are left")
        // With full durability nobody was told of the others, and nobody of what the next life has in its place.
        for index in 1..<models.count where configuration.durability != .full || index <= kept {
            let revision =
                index <= acknowledged.count ? acknowledged[index - 1] : last + Int64(index - acknowledged.count)
            if revision < begun { judgement.become(models[index], at: revision) }
        }
        var model = models[kept]
        model.restart(edition)
        // From its beginning on the life has this. Pages see it before anybody asks.
        judgement.become(model, at: min(revision, begun))
    }

    /// [--recover] Each value that is left is one that was written. Then the world is over.
    private func judgeRecovered(_ told: [String: Value], _ models: [Model], _ revision: Int64) {
        tell("recovered")
        var written: [String: Set<String>] = [:]
        for model in models {
            for (path, content) in model.contents() { written[path, default: []].insert(content.jsonText) }
        }
        for (path, content) in told.sorted(by: { $0.key < $1.key }) where !path.hasPrefix("/wills.") {
            let isOld = judgement.truth.hasHad(path, in: 0...Int64.max) { $0 == content }
            let isComputed = Model.ruleNames.contains { path.hasSuffix(".\($0)") } || path.hasSuffix(".index")
            if !isOld, !isComputed, written[path]?.contains(content.jsonText) != true,
                judgement.truth.isEverKnown(path, in: 0...Int64.max)
            {
                fault("[--recover] \(path) is \(content.jsonText.prefix(100)), which it never was")
            }
        }
        isOver = true
    }

    /// [Memory] Everything that came and went has given its memory back: a daemon that starts with the same store has
    /// as much of everything.
    func giveBack() {
        for client in clients { lose(client) }
        closePages()
        for _ in 0..<20 where daemon != nil {
            sim_advance(500_000_000)
            turn(times: 2)
        }
        guard let before = weigh() else { return }
        stop()
        if faults.isEmpty { start() }
        guard faults.isEmpty, let after = weigh() else { return }
        if generator.chance(50) { backUp() }
        // Places inside values, and what reads them, are freed when there are many.
        let rooms: [(String, Int64)] = [
            ("nodes", 0), ("attributes", 0), ("vertices", 8), ("edges", 8), ("subscriptions", 0), ("clients", 0),
            ("watched_attributes", 0), ("absent_rows", 0), ("running_timelines", 0),
        ]
        for (name, room) in rooms where abs((before.integer(name) ?? -100) - (after.integer(name) ?? 100)) > room {
            fault(
                "[Memory] \(name) are \(before.member(name)?.jsonText ?? "unknown"), and \(after.member(name)?.jsonText ?? "unknown") behind a restart"
            )
        }
    }

    private func weigh() -> Value? {
        guard readEverything() != nil else { return nil }
        turn(times: 3)
        if isTelling, let dump = ask("dump", "{}") { print("graph: \(dump.jsonText)") }
        return ask("stats", "{}")
    }

    /// [Backup] The last backup has the state of its revision, and is there after a power cut.
    func restoreBackup() {
        guard let backup, !isOver else { return }
        if generator.chance(70) {
            tell("the power is cut behind the backup")
            cutPower()
            // Of the store itself nothing is promised then.
            if configuration.durability != .full { isOver = true }
        }
        configuration.stateDirectory = "/sim/restored"
        configuration.archive.size = 0
        sim_make_folder("/sim/restored")
        sim_copy_file(World.backupFile, "/sim/restored/state.db")
        tell("the backup of \(backup)")
        writeScene(backupEdition)
        let known = epoch
        latest = 0
        epoch = nil
        start()
        guard faults.isEmpty, let (values, _) = readEverything() else { return }
        let told = Judgement.contents(values)
        let paths = judgement.truth.allPaths.filter { !$0.hasPrefix("/.") && !$0.hasPrefix(Model.past) }
        for path in paths.union(told.keys) where !path.hasPrefix("/wills.") && !path.hasPrefix("/t.") {
            let wanted = judgement.truth.content(of: path, at: backup)
            if told[path] != wanted, judgement.truth.isKnown(path, backup) {
                fault(
                    "[Backup] \(path) is \(told[path]?.jsonText.prefix(100) ?? "nothing"), and was \(wanted?.jsonText ?? "nothing") at \(backup)"
                )
            }
        }
        stop()
        writeScene(edition)
        configuration.stateDirectory = "/sim/state"
        configuration.archive.size = 0
        epoch = known
    }

    /// [--recover] A damaged store is never taken for a sound one; and what can be read of it is read.
    func recover() {
        guard !isOver, generator.chance(50) else { return }
        let file = "/sim/state/state.db"
        let size = sim_file_size(file)
        guard size > 0 else { return }
        latest = 0
        let place = generator.below(Int(size))
        tell("the disk spoils \(file) at \(place)")
        sim_damage_file(file, Int64(place), Int64(1 + generator.below(40)))
        mayBeDamaged = true
        start()
        guard faults.isEmpty, let (values, revision) = readEverything() else { return }
        let told = Judgement.contents(values)
        if isRecovering {
            judgeRecovered(told, [judgement.model], revision)
        } else {
            // What it has spoilt was in no use.
            var model = judgement.model
            model.restart(edition)
            if let difference = Judgement.firstDifference(told, model.contents()) {
                fault("[a damaged store] it is taken for a sound one: \(difference)")
            }
        }
        stop()
    }
}

extension Judgement {
    /// What `get` has told of the world, apart from the past and what depends on the ends of connections.
    static func contents(_ values: Value) -> [String: Value] {
        var told: [String: Value] = [:]
        for (path, content) in values.map ?? ValueMap() {
            // The attributes of the root are the machine's.
            if let path = path.string, !path.hasPrefix("/."), !path.hasPrefix(Model.past),
                let content = WatchTruth.content(content)
            {
                told[path] = content
            }
        }
        return told
    }

    static func firstDifference(_ told: [String: Value], _ wanted: [String: Value]) -> String? {
        let differing = Set(told.keys).union(wanted.keys).filter {
            !$0.hasPrefix("/wills.") && told[$0] != wanted[$0]
        }
        return differing.min().map { path in
            "\(path) is \(told[path]?.jsonText.prefix(100) ?? "nothing") and not \(wanted[path]?.jsonText.prefix(100) ?? "nothing")"
        }
    }
}
