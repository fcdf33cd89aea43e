import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// The runtime notes for each topic what a transaction has changed. It tells nobody yet.

extension Watching {
    /// - Parameter motion: nil where nothing moves.
    func collect(_ attribute: AttributeID, since stamp: UInt64, _ motion: Motion?) {
        guard let watch = topics[attribute] else { return topics.reports.note(attribute, at: now) }
        var wantsValues = false
        for topic in watch.topics {
            if topic.wantsValues { wantsValues = true }
            guard topic.key.events.contains(.invalidate) else { continue }
            news.enlist(topic)
            topic.news.invalidated.append((attribute, topic.paths[attribute] ?? [], false))
        }
        guard wantsValues else { return }
        let content = graph.contentForWatcher(of: attribute)
        guard watch.content == nil || graph.hasChanged(attribute, since: stamp) else { return }
        // A change of the tree takes several steps, of which a later one may take back what an earlier one has done.
        if news.mayCancel, watch.content == content {
            return history.noteUnchanged(attribute, since: watch.changedAt)
        }
        watch.changedAt = graph.lastChange(of: attribute)
        if news.hasJoined { news.collected.insert(attribute) }
        if watch.report != nil { watch.report?.told = graph.reportClock }
        guard let motion else {
            for topic in watch.topics where topic.wantsValues { tell(topic, of: attribute, content) }
            watch.content = content
            return
        }
        let old = watch.content ?? .value(.null)
        watch.content = content
        let turnover = presentations.present(
            attribute, from: old, to: content, in: history.revision, motion, since: stamp, &news.surroundings)
        if let transaction = turnover.interrupted { news.replaced.append((transaction, attribute)) }
        if !turnover.ends.isEmpty { news.completions += completionNews(turnover.ends) }
        let running = turnover.running
        if running != nil {
            news.animated.append(attribute)
            graph.stepsLeft -= Watching.stepsPerMotion + watch.topics.count * Watching.stepsPerTimeline
        }
        // Described once, however many topics tell of it. Each topic is charged for sending it.
        var (plain, styled): (ValueMap?, ValueMap?)
        var cost = 0
        for topic in watch.topics where topic.wantsValues {
            news.touch(topic)
            if topic.key.events.contains(.update) {
                var timeline: ValueMap?
                if let running {
                    if topic.key.css {
                        let before = graph.stepsLeft
                        timeline = styled ?? presentations.describe(running, replaces: turnover.replaced, css: true)
                        if styled == nil { cost = before - graph.stepsLeft } else { graph.stepsLeft -= cost }
                        styled = timeline
                    } else {
                        timeline = plain ?? presentations.describe(running, replaces: turnover.replaced, css: false)
                        plain = timeline
                    }
                }
                news.enlist(topic)
                for path in topic.paths[attribute] ?? [] {
                    topic.news.changes.append(
                        Change(path: path, content: content, timeline: timeline, reported: reportedNow(topic)))
                }
            }
            if topic.frames.isEmpty { continue }
            if let running {
                topic.startFrames(attribute, running, at: now)
            } else {
                // Also if the attribute has arrived and the tick that shows the arrival is still to come.
                topic.stopFrames(attribute, isGone: false)
            }
        }
    }

    /// A change without motion.
    private func tell(_ topic: Topic, of attribute: AttributeID, _ content: Content) {
        news.touch(topic)
        topic.stopFrames(attribute, isGone: false)
        guard topic.key.events.contains(.update), let paths = topic.paths[attribute] else { return }
        news.enlist(topic)
        for path in paths {
            topic.news.changes.append(Change(path: path, content: content, reported: reportedNow(topic)))
        }
    }

    /// Steps for each new motion, until its end, and for each topic that tells of it.
    private static let stepsPerMotion = 100
    private static let stepsPerTimeline = 100

    /// Attributes that joined are told as they are now, unless that has been told as a change.
    func collectJoined() {
        guard news.hasJoined else { return }
        for topic in news.topics where topic.wantsValues {
            for (attribute, path) in topic.news.joined where !news.collected.contains(attribute) {
                let content = topics.evaluated(attribute)
                let running = presentations.moving(attribute)
                if let running { topic.startFrames(attribute, running, at: now) }
                guard topic.key.events.contains(.update) else { continue }
                let timeline = running.map { presentations.describe($0, replaces: nil, css: topic.key.css) }
                topic.news.changes.append(
                    Change(path: path, content: content, timeline: timeline, reported: reported(attribute, topic)))
            }
        }
    }
}
