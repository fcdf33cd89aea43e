#if DEBUG
    import AttributeGraph
    import TestSupport

    @testable import DaemonServer
    @testable import GraphRuntime
    @testable import ViewGraph

    extension Daemon {
        /// Describes each contradiction inside a structure of the daemon, between two turns.
        func checkInvariants() -> [String] {
            var faults = runtime.graph.engine.checkInvariants()
            faults += runtime.graph.nodes.checkInvariants()
            faults += runtime.watching.checkInvariants()
            faults += runtime.repeats.checkInvariants()
            faults += runtime.delegations.checkInvariants()
            faults += sessions.checkInvariants()
            return faults
        }
    }
#else
    import DaemonServer

    extension Daemon {
        /// Only debug builds have the functions that check.
        func checkInvariants() -> [String] { [] }
    }
#endif
