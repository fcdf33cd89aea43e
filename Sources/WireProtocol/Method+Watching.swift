import AttributeValues

// Watching and connecting.

extension Method {
    static var subscribe: Method {
        Method(
            name: "subscribe",
            summary: "Watches paths or patterns. The snapshot comes after the reply, as an update with initial: true.",
            parameters: [
                .required(.paths, .array(.string), "Paths, or patterns in which * is one segment and ** any number."),
                .optional(
                    .events, .array(.choice(EventKinds.names.map(\.name))), default: ["update"],
                    "The kinds of events to send."),
                .optional(.initial, .bool, "Begin with the current values; true unless events leaves update out."),
                .optional(
                    .since,
                    .object([
                        .required("epoch", .string, "The life of the graph, as hello or subscribe told it."),
                        .required("revision", .count, "The last revision that was received whole."),
                    ]), "Continue from there instead of from a snapshot."),
                .optional(.maxRate, .positive, "Updates per second; between them the newest values are kept."),
                .optional(
                    .frames, .object([.required("rate", .positive, "Samples per second.")]),
                    "Displayed values of moving attributes; implies the event frames."),
                .optional(.css, .bool, default: false, "Timelines include an easing that a browser can play."),
                .optional(
                    .bookmarks, .bool, default: false, "Send a bookmark when all events of a revision have been sent."),
                typed,
                .optional(
                    .writers, .bool, default: false,
                    "Updates of one revision name the client that wrote, if the subscriber may read everything."),
                .optional(
                    .reports, .bool, default: false,
                    "Changes have the time of the last report. Reports of an equal value are updates, too, "
                        + "at most one each second."),
            ],
            result: .object([
                .required("subscription", .count, "The number of the subscription, which its events repeat."),
                .required("epoch", .string, "The life of the graph."), revision,
                .optional(
                    "resumed", .bool,
                    "Only with since. False if a snapshot follows, "
                        + "because the daemon no longer knows the changes since then."
                ),
            ]),
            errors: [.invalid, .notFound, .limit, .denied],
            need: Need(.read, on: "all that the paths and patterns can match")
        ) { (given) throws(Failure) in
            .subscribe(try given.subscription())
        }
    }

    static var unsubscribe: Method {
        Method(
            name: "unsubscribe", summary: "Ends a subscription of this client.",
            parameters: [.required(.subscription, .count, "Its number.")], result: revisionOnly, errors: [.notFound]
        ) { (given) throws(Failure) in
            .unsubscribe(subscription: given.int(.subscription) ?? 0)
        }
    }

    // Connecting.

    static var hello: Method {
        Method(
            name: "hello",
            summary: "Names the client. Returns the protocol's version, the epoch, "
                + "the revision and the present time on both clocks.",
            parameters: [
                .optional(.client, .string, "The client's name, for explanations."),
                .optional(
                    .as, .string,
                    "The principal for whom the connection acts from now on. "
                        + "This needs the right admin on the whole tree."),
                .optional(
                    .time, .any,
                    "Only agd-past: the moment that is shown. RFC 3339, a revision, or {revision, epoch}; now without."),
            ],
            result: .object([
                .required("server", .string, "The daemon's name."),
                .required("protocol", .count, "The protocol's version."),
                .required("epoch", .string, "The life of the graph."), revision,
                .required(
                    "time",
                    .object([
                        .required("monotonic", .number, "Seconds on the daemon's monotonic clock."),
                        .required("wall", .string, "The same moment as wall time, RFC 3339."),
                    ]), "Now, on both clocks."),
                recordedBy,
            ]),
            errors: [.denied, .invalid]
        ) { (given) throws(Failure) in
            .hello(client: given.text(.client), principal: given.text(.as), time: try given.moment(.time))
        }
    }

    static var ping: Method {
        Method(
            name: "ping", summary: "Answers after all earlier requests of this client.", parameters: [],
            result: .object([.required("pong", .bool, "True.")]), errors: []
        ) { (_) throws(Failure) in .ping }
    }
}
