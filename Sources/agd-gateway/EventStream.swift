import AGClient
import AttributeValues
import FlyingFox
import FlyingSocks
import WireProtocol

/// A subscription as server-sent events: the name of an event is the protocol's, its data the parameters.
///
/// A browser that reads slowly slows nobody else: nothing is taken from the subscription before it can be written, and the daemon
/// keeps the newest values meanwhile.
struct EventStream: AsyncBufferedSequence {
    typealias Element = UInt8

    let subscription: Subscription
    /// Held as long as the stream is.
    let place: WatchCount.Place

    func makeAsyncIterator() -> Iterator { Iterator(events: subscription.makeAsyncIterator(), place: place) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        var events: Subscription.AsyncIterator
        let place: WatchCount.Place
        private var hasFailed = false

        init(events: Subscription.AsyncIterator, place: WatchCount.Place) {
            self.events = events
            self.place = place
        }

        /// Only whole events are handed out.
        mutating func next() async throws -> UInt8? { preconditionFailure("the server asks for buffers") }

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            while !hasFailed {
                do throws(ClientError) {
                    guard let element = try await events.next() else { return nil }
                    if let text = element.eventText { return text }
                } catch {
                    // The status has been sent long ago; what is wrong can only be told here.
                    hasFailed = true
                    return SSE.text(event: "error", data: Value.string("\(error)").jsonText)
                }
            }
            return nil
        }
    }
}

enum SSE {
    static func text(event: String, data: String) -> [UInt8] { Array("event: \(event)\ndata: \(data)\n\n".utf8) }
}

extension Subscription.Element {
    /// nil for what a browser need not hear: an update with all values follows a return of the daemon anyway.
    fileprivate var eventText: [UInt8]? {
        switch self {
        case .event(let event): SSE.text(event: "\(event.method)", data: event.plain.parametersText)
        case .interrupted(let error): SSE.text(event: "interrupted", data: Value.string("\(error)").jsonText)
        case .resumed: nil
        }
    }
}

extension Event {
    /// The event with its values as plain JSON, which browsers read.
    fileprivate var plain: Event {
        guard case .update(let revision, let from, let label, let isInitial, let changes, _) = self else { return self }
        return .update(revision: revision, from: from, label: label, isInitial: isInitial, changes: changes, typed: false)
    }

    /// The parameters without the subscription, which the stream itself is.
    fileprivate var parametersText: String {
        let buffer = ByteBuffer()
        buffer.appendTail(of: self)
        // The tail goes on behind the head's `{"subscription":7`, and ends the message: `,"revision":…}}⏎`.
        return "{" + buffer.text.dropFirst().dropLast(2)
    }
}
