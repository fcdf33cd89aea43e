import AttributeGraph
import AttributeValues
import Timelines
import ViewGraph
import WireProtocol

/// The timelines of watched attributes.
final class Presentations {
    private let graph: ViewGraph
    private let turn: CurrentTurn
    /// The motions of attributes. Finished ones stay until somebody asks about them.
    private(set) var running: [AttributeID: Running] = [:]
    private var attributes: [UInt64: AttributeID] = [:]
    private var nextID: UInt64 = 1
    private(set) var easings = EasingCache()
    private(set) var animations = AnimationCache()
    private(set) var completions = CompletionTracker()
    /// Motions by revision, until all of the revision's are removed.
    private(set) var moves: [UInt64: Moves] = [:]

    struct Running {
        var id: UInt64
        var timeline: Timeline
        /// The revision that began the motion.
        var transaction: UInt64
    }

    /// The attributes that a transaction set in motion.
    struct Moves {
        var attributes: [AttributeID]
        /// Numbers of the topics with completion events that the transaction touched.
        var topics: [Int64]
    }

    /// The progress of one transaction's motions: `logical` or `removed`.
    struct End {
        var phase: String
        var transaction: UInt64
        var moves: Moves
    }

    init(_ graph: ViewGraph, _ turn: CurrentTurn) {
        self.graph = graph
        self.turn = turn
    }

    private var now: Double { turn.now.monotonic }

    // MARK: Animations

    /// - Throws: `invalid` for an animation that cannot be read.
    /// - Returns: nil if the transaction says nothing.
    func motion(_ options: TransactionOptions) throws(Failure) -> Motion? {
        if options.isPlain || options.animation == nil && !options.disablesAnimations && options.motions.isEmpty {
            return nil
        }
        let range = 0...AnimationLimits.duration
        guard range.contains(options.elapsed) else {
            throw Failure(.invalid, "elapsed: \(range.lowerBound) to \(range.upperBound) s, not \(options.elapsed)")
        }
        var motion = Motion(isDisabled: options.disablesAnimations, elapsed: options.elapsed)
        if let value = options.animation, value != .null {
            motion.animation = try read(value)
            motion.written = value
        }
        return motion
    }

    private func read(_ animation: Value) throws(Failure) -> Animation {
        do throws(AnimationError) {
            // Scripts write the same text again and again.
            if case .string(let text) = animation { return try animations.lookUp(text) }
            return try Animation(animation)
        } catch {
            throw Failure(
                .invalid, "animation: \(error.message)", column: error.offset.map { $0 + 1 }, hint: error.hint)
        }
    }

    /// The animations of single mutations, by their positions, as texts for `knownAnimation`.
    /// - Parameter count: the number of mutations.
    func motions(_ options: TransactionOptions, of count: Int) throws(Failure) -> [Int: String] {
        var motions: [Int: String] = [:]
        for entry in options.motions {
            guard let animation = entry.map?["animation"], let positions = entry.map?["mutations"]?.list else {
                preconditionFailure("a motion has been checked for its members")
            }
            _ = try read(animation)
            let text = animation.string ?? animation.jsonText
            for position in positions {
                guard case .int(let number) = position, number < count else {
                    throw Failure(.invalid, "motions: there is no mutation \(position); there are \(count), from 0")
                }
                motions[Int(number)] = text
            }
        }
        return motions
    }

    /// The animation of one attribute's change: that of the modifier around the attribute, otherwise of the binding
    /// that was written through, otherwise of the transaction. nil if animations are disabled or motion is reduced.
    private func animation(
        for attribute: AttributeID, _ motion: Motion, since stamp: UInt64, _ known: inout KnownSurroundings
    ) -> Animation? {
        if motion.isDisabled { return nil }
        if motion.animation == nil, motion.bindings.isEmpty, graph.animations.isEmpty { return nil }
        let surroundings = graph.animations.surroundings(of: attribute, since: stamp, &known)
        if surroundings.reducesMotion { return nil }
        switch surroundings.modifier {
        case .some(let text): return text.flatMap(knownAnimation)
        case nil: break
        }
        if !motion.bindings.isEmpty, let origin = graph.provenance.originState(of: attribute),
            let animation = motion.bindings[origin]
        {
            return animation
        }
        return motion.animation
    }

    /// The animation of a change of the tree, chosen in the same order.
    /// - Parameters:
    ///   - place: the list or choice whose data has made the change, or the node that has changed.
    ///   - list: the list, if there is one.
    ///   - isNew: whether the change has made a node.
    func animation(
        ofChangeAt place: NodeID, by list: NodeID?, _ motion: Motion, isNew: (NodeID) -> Bool, since stamp: UInt64,
        _ known: inout KnownSurroundings
    ) -> Animation? {
        if motion.isDisabled { return nil }
        let surroundings = graph.animations.surroundings(ofChangeAt: place, isNew: isNew, since: stamp, &known)
        if surroundings.reducesMotion { return nil }
        switch surroundings.modifier {
        case .some(let text): return text.flatMap(knownAnimation)
        case nil: break
        }
        if !motion.bindings.isEmpty, let list, let origin = graph.originState(ofList: list, since: stamp),
            let animation = motion.bindings[origin]
        {
            return animation
        }
        return motion.animation
    }

    /// The animation of this text in a scene or a request, which was checked when it was read.
    func knownAnimation(_ text: String) -> Animation? {
        guard text.utf8.first == UInt8(ascii: "{") else { return try? animations.lookUp(text) }
        return (try? JSONParser.parseOnce(text.utf8)).flatMap { try? Animation($0) }
    }

    /// True if a value moves, or may start to with this motion.
    func mayMove(_ motion: Motion?) -> Bool {
        if !running.isEmpty || !graph.animations.isEmpty { return true }
        guard let motion else { return false }
        return motion.animation != nil || !motion.bindings.isEmpty
    }

    /// The displayed content of an attribute: its timeline's value while it moves, otherwise the model's.
    func presented(_ attribute: AttributeID, _ content: Content) -> Content {
        guard let running = running[attribute] else { return content }
        if running.timeline.isFinished(at: now) {
            self.running[attribute] = nil
            return content
        }
        return .value(running.timeline.displayed(at: now))
    }

    /// The attribute's motion; nil if it has arrived.
    func moving(_ attribute: AttributeID) -> Running? {
        if running.isEmpty { return nil }
        return running[attribute].flatMap { $0.timeline.isFinished(at: now) ? nil : $0 }
    }

    /// A change of an attribute's motion.
    struct Turnover {
        /// The new motion; nil if the change is not animated.
        var running: Running?
        /// The number of the timeline that this one replaces.
        var replaced: UInt64?
        /// The transaction that had set the attribute in motion, if it was still moving.
        var interrupted: UInt64?
        /// The transactions whose motions end because of it.
        var ends: [End] = []
    }

    /// A watched attribute changed in a transaction: starts, continues or ends its timeline.
    func present(
        _ attribute: AttributeID, from old: Content, to new: Content, in revision: UInt64, _ motion: Motion,
        since stamp: UInt64, _ surroundings: inout KnownSurroundings
    ) -> Turnover {
        let before = running.isEmpty ? nil : running[attribute]
        let wasMoving = before.map { !$0.timeline.isFinished(at: now) } ?? false
        var made: Timeline?
        // If a request has used up its budget, its changes are not animated.
        if case .value(let to) = new, graph.stepsLeft > 0,
            let animation = animation(for: attribute, motion, since: stamp, &surroundings)
        {
            let start = now - motion.elapsed
            if let before, wasMoving {
                made = before.timeline.changing(to: to, animation: animation, at: max(start, before.timeline.start))
            } else if case .value(let from) = old {
                made = Timeline(changing: from, to: to, animation: animation, start: start)
            }
        }
        var turnover = Turnover(replaced: before?.id, interrupted: wasMoving ? before?.transaction : nil)
        if let before { turnover.ends = end(before) }
        guard let made else {
            if before != nil { running[attribute] = nil }
            return turnover
        }
        let started = Running(id: nextID, timeline: made, transaction: revision)
        nextID += 1
        running[attribute] = started
        attributes[started.id] = attribute
        completions.start(started.id, in: revision, logical: made.logicalCompletion, end: made.end)
        turnover.running = started
        return turnover
    }

    private func end(_ running: Running) -> [End] {
        attributes[running.id] = nil
        return ends(completions.remove(running.id, at: now))
    }

    /// Ends the motion of an attribute that nobody watches any more.
    func stop(_ attribute: AttributeID) -> [End] { running.removeValue(forKey: attribute).map(end) ?? [] }

    /// At the end of a transaction: records the motions that it began, and returns those that are complete at once.
    /// - Parameter topics: numbers of the topics with completion events that the transaction touched.
    func seal(_ revision: UInt64, moved attributes: [AttributeID], _ topics: [Int64]) -> [End] {
        let sealed = completions.seal(revision, at: now)
        if !attributes.isEmpty || !topics.isEmpty { moves[revision] = Moves(attributes: attributes, topics: topics) }
        return ends(sealed)
    }

    /// The transactions whose motions have ended by now.
    func advance() -> [End] { completions.nextDeadline == nil ? [] : ends(completions.advance(to: now)) }

    /// Translates the tracker's events, and forgets the motions that have ended.
    private func ends(_ events: [CompletionTracker.Event]) -> [End] {
        var ends: [End] = []
        for event in events {
            switch event {
            case .ended(let id):
                if let attribute = attributes.removeValue(forKey: id) { running[attribute] = nil }
            case .logical(let transaction):
                if let moves = moves[transaction] {
                    ends.append(End(phase: "logical", transaction: transaction, moves: moves))
                }
            case .removed(let transaction):
                if let moves = moves.removeValue(forKey: transaction) {
                    ends.append(End(phase: "removed", transaction: transaction, moves: moves))
                }
            }
        }
        return ends
    }

    // MARK: For events

    /// - Parameter css: include an easing for browsers. It is omitted if the current request has no steps left.
    func describe(_ running: Running, replaces: UInt64?, css: Bool) -> ValueMap {
        running.timeline.event(id: running.id, replaces: replaces, css: css ? easing(for: running.timeline) : nil)
    }

    /// The timeline from 0 to 1 of nodes that come and go; nil: without animation.
    func coming(_ animation: Animation?, elapsed: Double, css: Bool) -> ValueMap? {
        guard let animation, graph.stepsLeft > 0,
            let timeline = Timeline(changing: 0.0, to: 1.0, animation: animation, start: now - elapsed)
        else { return nil }
        graph.stepsLeft -= Presentations.stepsPerComing
        defer { nextID += 1 }
        return timeline.event(id: nextID, css: css ? easing(for: timeline) : nil)
    }

    private static let stepsPerComing = 100

    /// Cached for all timelines of the same shape. Sampling and sending it costs steps.
    private func easing(for timeline: Timeline) -> TimelineCSS? {
        guard graph.stepsLeft > 0 else { return nil }
        let before = easings.samples
        let css = easings.css(for: timeline)
        let bytes = css.map { $0.easing.utf8.count + ($0.velocityEasing?.utf8.count ?? 0) } ?? 0
        graph.stepsLeft -= easings.samples - before + bytes / Presentations.easingBytesPerStep + 1
        return css
    }

    /// Bytes of an easing that cost one step to write and send.
    private static let easingBytesPerStep = 20

    func giveBack() {
        running.giveBack()
        attributes.giveBack()
        moves.giveBack()
        completions.giveBack()
    }
}
