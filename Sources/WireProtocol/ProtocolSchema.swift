import AttributeValues

/// The protocol's description of itself: an OpenRPC document, made from the tables with which requests are read. Events
/// are notifications from the daemon and are listed in `x-events`.
public enum ProtocolSchema {
    /// Increases with every change that could break an old client.
    public static let version = 1

    public static func describeProtocol() -> Value {
        [
            "openrpc": "1.3.2",
            "info": ["title": "agd", "version": .string(String(version))],
            "methods": .list(Method.table().map(describe)),
            "x-events": .list(
                events.map { name, summary, fields in
                    ["name": .string(name), "summary": .string(summary), "params": .list(fields.map(parameter))]
                }),
            "x-errors": .list(ErrorCode.allCases.map { .string($0.rawValue) }),
        ]
    }

    private static func describe(_ method: Method) -> Value {
        [
            "name": .string(method.name),
            "summary": .string(method.summary),
            "paramStructure": "either",
            "params": .list(method.parameters.map { parameter($0.field) }),
            "result": ["name": "result", "schema": method.result.schema],
            "errors": .list(
                method.errors.map { code in
                    [
                        "code": .int(Int64(RequestFault.refused)), "message": .string(code.rawValue),
                        "data": ["code": .string(code.rawValue)],
                    ]
                }),
            "x-needs": method.need.map { ["right": .string($0.right.rawValue), "on": .string($0.subject)] } ?? .null,
        ]
    }

    private static func parameter(_ field: Field) -> Value {
        guard case .map(var schema) = field.shape.schema else { return field.shape.schema }
        if let fallback = field.fallback { schema["default"] = fallback }
        return [
            "name": .string(field.name), "description": .string(field.meaning), "required": .bool(field.isRequired),
            "schema": .map(schema),
        ]
    }

    private static var subscription: Field { Field.required("subscription", .count, "The subscription's number.") }
    private static var revision: Field {
        Field.required("revision", .count, "The revision that the client has reached with the event.")
    }
    private static var paths: Field { Field.required("paths", .array(.string), "The attributes concerned.") }

    /// The notifications that the daemon sends, with their parameters.
    public static var events: [(name: String, summary: String, fields: [Field])] {
        let change = Shape.object(
            [.required("path", .string, "The attribute.")] + Method.content + [
                .optional("timeline", .any, "How the displayed value moves to the new one."),
                .optional(
                    "reported", .number, "With reports: the time of the last report, on the daemon's monotonic clock."),
            ])
        return [
            (
                "update", "The values that a transaction changed.",
                [
                    subscription, revision,
                    .optional("from", .count, "The first revision that the event spans, when it spans several."),
                    .optional("label", .string, "The transaction's label."),
                    .optional("writer", .string, "With writers: the principal, or the client and its user."),
                    .optional(
                        "initial", .bool, "True: a snapshot of all watched values, which replaces all earlier ones."),
                    .required("changes", .array(change), "Each changed attribute once."),
                ]
            ),
            (
                "invalidate", "Attributes that may have changed. Each is sent again only after the client has read it.",
                [subscription, revision, paths]
            ),
            (
                "structure",
                "Nodes and attributes that were added, removed or moved. Comes before the update of its revision.",
                [
                    subscription, revision, .required("added", .array(.string), "Added paths."),
                    .required("removed", .array(.string), "Removed paths."),
                    .required("moved", .array(.string), "Paths that moved."),
                    .optional(
                        "timeline", .any,
                        "A movement from 0 to 1 for nodes that appear or disappear, if that is animated."),
                    .optional(
                        "transitions",
                        .map(
                            .object([
                                .optional("insertion", .array(.any), "The effects while it appears."),
                                .optional("removal", .array(.any), "The effects while it disappears."),
                            ])), "By the path of a node that has a transition."),
                    .optional(
                        "shown", .map(.array(.string)),
                        "By the path of a node: the paths of the nodes that it shows now, in order."),
                ]
            ),
            (
                "frames", "Displayed values of moving attributes.",
                [
                    subscription, .required("time", .number, "Seconds on the daemon's monotonic clock."),
                    .required("values", .map(.any), "By path."),
                ]
            ),
            (
                "completion",
                "Animations of watched attributes that ended. "
                    + "Comes once for each phase, after the update that began them.",
                [
                    subscription, revision, .required("transaction", .count, "The revision that began them."),
                    .required("phase", .choice(["logical", "removed", "replaced"]), "How they ended."), paths,
                ]
            ),
            (
                "bookmark", "Everything up to the revision has been sent.",
                [subscription, .required("epoch", .string, "The life of the graph."), revision]
            ),
            (
                "forward", "A request of another client that writes below a delegated node. `answer` answers it.",
                [
                    subscription, .required("forward", .count, "The number of the request."),
                    .required("call", .choice(["set", "transact", "do"]), "The method."),
                    .required("arguments", .map(.any), "The parameters of the method."),
                    .optional("principal", .string, "The principal for whom the client acts."),
                    .required("user", .count, "The number of the client's user."),
                ]
            ),
            (
                "ended", "The subscription is over.",
                [
                    subscription,
                    .required("code", .choice(["removed", "denied", "limit"]), "The reason, as a stable name."),
                    .required("reason", .string, "The reason, in words."),
                ]
            ),
        ]
    }
}
