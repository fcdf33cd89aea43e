import AttributeValues

/// On whose behalf the graph works, and what this may still cost.
public struct RequestContext {
    var budget = Budget()
    /// True for root and the daemon's own user, and at the start: they may use the last part of each limit.
    public var mayTakeLast = true
    /// True if the client may read an attribute, or all attributes of a node; nil: it may read everything. Checked
    /// where the graph tells something by name, never where values are computed.
    public var mayRead: ((AttributePath) -> Bool)?

    /// - Parameters:
    ///   - steps: what rules and answers may take. Rules beyond that are deferred.
    ///   - growth: steps for the instances that lists make.
    public init(steps: Int = .max, growth: Int = .max, mayTakeLast: Bool = true) {
        self.mayTakeLast = mayTakeLast
        (budget.steps, budget.growth) = (steps, growth)
    }
}

// The functions here are the only ones that set the context. All but `exchange` do so as long as a body runs.
extension Wiring {
    /// Works in another context until the next call, which gives the one before back. Not generic: each request comes
    /// by here.
    public func exchange(_ context: inout RequestContext) { swap(&request, &context) }

    /// While `body` runs, the graph works in another context.
    public func working<T, E: Error>(in context: RequestContext, _ body: () throws(E) -> T) throws(E) -> T {
        var context = context
        exchange(&context)
        defer { exchange(&context) }
        return try body()
    }

    /// While `body` runs, the graph shows only what may be read.
    /// - Parameter mayRead: nil: everything.
    public func showing<T, E: Error>(
        _ mayRead: ((AttributePath) -> Bool)?, _ body: () throws(E) -> T
    ) throws(E) -> T {
        let outer = request.mayRead
        request.mayRead = mayRead
        defer { request.mayRead = outer }
        return try body()
    }

    /// While `body` runs, it has steps of its own.
    /// - Parameter settle: gets the steps of the context, to which it charges what `body` has spent.
    public func spending<T, E: Error>(
        _ steps: Int, _ settle: (_ outer: inout Int, _ spent: Int) -> Void, _ body: () throws(E) -> T
    ) throws(E) -> T {
        var outer = request.budget.steps
        request.budget.steps = steps
        defer {
            settle(&outer, steps.subtractingReportingOverflow(request.budget.steps).partialValue)
            request.budget.steps = outer
        }
        return try body()
    }

    /// What the present context may still spend. Below zero, rules are deferred.
    public var stepsLeft: Int {
        get { request.budget.steps }
        set { request.budget.steps = newValue }
    }

    var mayRead: ((AttributePath) -> Bool)? { request.mayRead }

    var budget: Budget {
        get { request.budget }
        _modify { yield &request.budget }
    }
}
