import AttributeGraph
import AttributeValues
import Timelines
import ViewGraph
import WireProtocol

/// How one transaction's changes move.
struct Motion {
    var isDisabled = false
    /// The transaction's own animation.
    var animation: Animation?
    /// By the state that was written through a binding with an animation.
    var bindings: [AttributeID: Animation] = [:]

    static let none = Motion()

    func with(_ bindings: [AttributeID: Animation]) -> Motion {
        var motion = self
        motion.bindings = bindings
        return motion
    }
}

/// The timelines of observed attributes.
struct Presentations {
    struct Running {
        var id: UInt64
        var timeline: Timeline
        /// The revision that began it.
        var transaction: UInt64
    }

    /// Attributes that moved and have not been asked about since they arrived.
    var running: [AttributeID: Running] = [:]
    var attributes: [UInt64: AttributeID] = [:]
    var nextID: UInt64 = 1
    var easings = EasingCache()
    var animations = AnimationCache()
    var completions = CompletionTracker()
    /// By revision, until all of it is gone.
    var moves: [UInt64: Moves] = [:]

    /// What a transaction set in motion.
    struct Moves {
        var attributes: [AttributeID]
        /// Numbers of the topics with completion events that the transaction touched.
        var topics: [Int64]
    }
}

extension GraphRuntime {
    /// - Throws: `invalid` for an animation that cannot be read.
    func motion(_ options: TransactionOptions) throws(Failure) -> Motion {
        var motion = Motion(isDisabled: options.disablesAnimations)
        switch options.animation {
        case nil, .null?: break
        case let value?:
            do throws(AnimationError) {
                // Scripts write the same text again and again.
                if case .string(let text) = value {
                    motion.animation = try presentations.animations.animation(text)
                } else {
                    motion.animation = try Animation(value)
                }
            } catch {
                throw Failure(.invalid, "animation: \(error.message)", column: error.offset.map { $0 + 1 }, hint: error.hint)
            }
        }
        return motion
    }

    /// The animation of one attribute's change: the first that the specification's order of precedence finds.
    func animation(for attribute: AttributeID, _ motion: Motion, since stamp: UInt64, _ news: inout News) -> Animation? {
        if motion.isDisabled { return nil }
        if motion.animation == nil, motion.bindings.isEmpty, !graph.hasAnimationModifiers { return nil }
        let surroundings = graph.surroundings(of: attribute, since: stamp, &news.surroundings)
        if surroundings.reducesMotion { return nil }
        switch surroundings.modifier {
        case .some(let text): return text.flatMap(knownAnimation)
        case nil: break
        }
        if !motion.bindings.isEmpty, let origin = graph.origin(of: attribute), let animation = motion.bindings[origin] {
            return animation
        }
        return motion.animation
    }

    /// An animation of a scene, which was checked when the scene was read.
    func knownAnimation(_ text: String) -> Animation? { try? presentations.animations.animation(text) }

    /// What an attribute shows now: its timeline's value while one runs, else the model's.
    func presented(_ attribute: AttributeID, _ content: Content) -> Content {
        guard let running = presentations.running[attribute] else { return content }
        if running.timeline.isFinished(at: now.monotonic) {
            presentations.running[attribute] = nil
            return content
        }
        return .value(running.timeline.displayed(at: now.monotonic))
    }

    /// The attribute's motion, while it has not arrived.
    func moving(_ attribute: AttributeID) -> Presentations.Running? {
        presentations.running[attribute].flatMap { $0.timeline.isFinished(at: now.monotonic) ? nil : $0 }
    }

    /// A watched attribute changed: starts, continues or ends its timeline.
    /// - Returns: the timeline as data, where the change is animated.
    func present(
        _ attribute: AttributeID, from old: Content, to new: Content, _ motion: Motion, since stamp: UInt64, _ news: inout News
    ) -> Presentations.Running? {
        let before = presentations.running.isEmpty ? nil : presentations.running[attribute]
        var made: Timeline?
        // Who has spent all steps on what changes has none left for how it moves.
        if case .value(let to) = new, graph.stepsLeft > 0, let animation = animation(for: attribute, motion, since: stamp, &news) {
            if let before, !before.timeline.isFinished(at: now.monotonic) {
                made = before.timeline.changing(to: to, animation: animation, at: now.monotonic)
            } else if case .value(let from) = old {
                made = Timeline(changing: from, to: to, animation: animation, start: now.monotonic)
            }
        }
        if let before {
            if !before.timeline.isFinished(at: now.monotonic) { news.replaced.append((before.transaction, attribute)) }
            presentations.attributes[before.id] = nil
            news.completions += completions(presentations.completions.remove(before.id, at: now.monotonic))
        }
        guard let made else {
            if before != nil { presentations.running[attribute] = nil }
            return nil
        }
        let running = Presentations.Running(id: presentations.nextID, timeline: made, transaction: revision)
        presentations.nextID += 1
        presentations.running[attribute] = running
        presentations.attributes[running.id] = attribute
        return running
    }

    /// Steps for a motion that begins and is followed to its end, and for each topic that tells of it.
    static let stepsPerMotion = 100
    static let stepsPerTimeline = 100

    /// - Parameter css: an easing for browsers is wanted. It is left out when the request at hand has no steps left.
    func describe(_ running: Presentations.Running, replaces: UInt64?, css: Bool) -> Value {
        running.timeline.event(id: running.id, replaces: replaces, css: css ? easing(for: running.timeline) : nil)
    }

    /// Computed once for all timelines of the same shape. Sampling and sending it costs steps.
    private func easing(for timeline: Timeline) -> TimelineCSS? {
        guard graph.stepsLeft > 0 else { return nil }
        let before = presentations.easings.samples
        let css = presentations.easings.css(for: timeline)
        let bytes = css.map { $0.easing.utf8.count + ($0.velocityEasing?.utf8.count ?? 0) } ?? 0
        graph.stepsLeft -= presentations.easings.samples - before + bytes / GraphRuntime.easingBytesPerStep + 1
        return css
    }

    /// Bytes of an easing that are written and sent in a step.
    private static let easingBytesPerStep = 20
}
