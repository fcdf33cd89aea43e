import AttributeValues
import CSimulatedKernel
import CommandArguments
import DaemonServer
import GraphRuntime
import TestSupport
import WireProtocol

/// [Rights] A client without rights to a part gets the same bytes whatever happens there.
///
/// The same world runs twice. Everybody asks the same at the same moments; but the part that only the daemon's own user
/// may read has other nodes, names and values, and other things are done to it. What all clients share is the same:
/// as many revisions, subscriptions and motions. What the others are sent is compared byte for byte.
struct Interference {
    let seed: UInt64
    let isTelling: Bool
    static let steps = 250

    func run() -> (faults: [String], requests: Int) {
        let told = [0, 1].map { Run(seed, variant: $0, isTelling).tell() }
        var faults = told.flatMap(\.faults)
        for (number, (one, other)) in zip(told[0].lines, told[1].lines).enumerated() where one != other {
            let place =
                zip(one, other).enumerated().first { $0.element.0 != $0.element.1 }?.offset
                ?? min(one.count, other.count)
            func line(_ lines: [String]) -> String {
                place < lines.count ? String(lines[place].prefix(400)) : "nothing"
            }
            faults.append(
                "step 0: [Rights] peeper \(number) is told of what it may not read: line \(place) is\n  \(line(one))\nor, with another hidden part,\n  \(line(other))"
            )
        }
        return (faults, told.reduce(0) { $0 + $1.requests })
    }

    private final class Run {
        let world: World
        let variant: Int
        var generator: SeededGenerator
        /// Users who may read a part, and one without any right. They speak alike.
        let peepers: [Client]
        /// The daemon's own user.
        let owner: Client
        var lines: [[String]]
        var requests = 0
        var counter: Int64 = 1

        init(_ seed: UInt64, variant: Int, _ isTelling: Bool) {
            world = World(seed: seed, isTelling: isTelling)
            self.variant = variant
            generator = SeededGenerator(seed: seed ^ 0xbeef)
            peepers = [(1, 1005), (2, 1005), (3, 1006), (4, 1002)].map { Client($0, .reader, user: $1) }
            lines = peepers.map { _ in [] }
            owner = Client(5, .architect, user: 900)
            sim_write_file("/sim/scene.yaml", world.model.text(world.edition) + Run.hidden(variant))
            // Time must not depend on how often somebody asks for it.
            sim_set_tick(0)
            sim_set_short(false)
            world.isCalm = true
            world.configuration.access = Run.access()
        }

        private static func access() -> [AccessRule] {
            func rule(_ right: AccessRight, _ user: UInt32, _ pattern: String) -> AccessRule? {
                (try? PathPattern(pattern)).map { AccessRule(right, [.user(user)], $0) }
            }
            return [
                rule(.read, 1005, "/w/v0/**"), rule(.write, 1005, "/w/v1/**"), rule(.read, 1005, "/w.a"),
                rule(.do, 1005, "/act.shift"), rule(.define, 1005, "/box2/**"),
                rule(.read, 1006, "/w.text"), rule(.read, 1006, "/.*"), rule(.read, 1006, "/vaul/**"),
                rule(.define, 1006, "/free/**"),
            ].compactMap { $0 }
        }

        private static func hidden(_ variant: Int) -> String {
            variant == 0
                ? """
                  - { id: vault, kind: container, state: { alpha: 1, list: [1, 2] }, computed: { rule: alpha * 2 }, children: [{ id: inner, state: { x: 1 } }] }
                  - { id: free, kind: container, state: { f: 0 }, children: [{ id: child, state: { n: 0 } }] }

                """
                : """
                  - { id: vaults, kind: container, state: { beta: text, list: [] }, computed: { fails: 1 / (1 - list.size() * 0 - 1) } }
                  - { id: free, kind: container, state: { f: 0 }, children: [{ id: child, state: { n: 0 } }] }

                """
        }

        /// What is done to the hidden part. Each is one revision, or none, in both worlds.
        private func touch() {
            counter += 1
            let (method, parameters): (String, String)
            switch (generator.below(6), variant) {
            case (0, 0), (1, 0): (method, parameters) = ("set", "{\"path\":\"/vault.alpha\",\"value\":\(counter)}")
            case (0, _), (1, _): (method, parameters) = ("set", "{\"path\":\"/vaults.beta\",\"value\":\"t\(counter)\"}")
            case (2, 0): (method, parameters) = ("set", "{\"path\":\"/vault.list\",\"value\":[\(counter)]}")
            case (2, _): (method, parameters) = ("set", "{\"path\":\"/vaults.list\",\"value\":[\(counter),\"other\"]}")
            case (3, 0): (method, parameters) = apply("/vault", "n\(counter)", "{\"hidden\":\(counter)}")
            case (3, _): (method, parameters) = apply("/vaults", "other\(counter)", "{\"secret\":\"\(counter)\"}")
            case (4, 0): (method, parameters) = ("subscribe", "{\"paths\":[\"/vault/**\"]}")
            case (4, _): (method, parameters) = ("subscribe", "{\"paths\":[\"/vaults.beta\"]}")
            case (_, 0): (method, parameters) = ("set", "{\"path\":\"/vault.nothing\",\"value\":1}")
            default: (method, parameters) = ("get", "{\"paths\":[\"/vaults/**\"]}")
            }
            send(owner, method, parameters)
        }

        private func apply(_ at: String, _ id: String, _ state: String) -> (String, String) {
            ("apply", "{\"at\":\"\(at)\",\"document\":{\"agd\":1,\"nodes\":[{\"id\":\"\(id)\",\"state\":\(state)}]}}")
        }

        /// What is done to what everybody may see, by the daemon's own user.
        private func change() {
            counter += 1
            send(
                owner, "set",
                "{\"path\":\"\(generator.pick(["/w.a", "/w.text"]))\",\"value\":\(generator.chance(50) ? "\(counter)" : "\"t\(counter)\"")}"
            )
        }

        private func peep(_ client: Client) {
            let path = generator.pick([
                "/w/v0.r0", "/w/v0.n", "/w/v1.n", "/w/v1.r2", "/w.a", "/w.b", "/w.text", "/w", "/w/v0", "/w/v1",
                "/w/v2",
                "/vault", "/vault.alpha", "/vault.beta", "/vault.alph", "/vault.bet", "/vault.list", "/vault.list[0]",
                "/vault.rule", "/vault.fails", "/vault/inner", "/vault/inner.x", "/vault/n3", "/vault/n3.hidden",
                "/vaults", "/vaults.beta", "/vaulx.a", "/vaultx", "/vaul",
                "/vaul.alpha", "/vaul.beta", "/vaul/inner", "/vaul/inner.x", "/act.shift", "/act.swap", "/box2",
                "/box2/new", "/box2/new.s", "/box1/ball", "/free",
                "/free/child.n", "/free/new", "/nothing", "/secret",
            ])
            let patterns = generator.pick([
                "\"\(path)\"", "\"\(path)/**\"", "\"/**\"", "\"/w/v0/**\",\"\(path)\"", "\"/vaul/**\"", "\"/w/*.n\"",
            ])
            counter += 1
            let rule = generator.pick([
                "alpha", "beta + 1", "n + a", "$/vault.alpha", "$/vault.list", "$/w/v0.r0", "$/w.a + 1", "self.id",
                "env.locale",
                "vault", "r0", "hidden", "[1, 2, 3].map(x, x * n)",
            ])
            let (method, parameters): (String, String)
            switch generator.below(22) {
            case 0, 1: (method, parameters) = ("get", "{\"path\":\"\(path)\"}")
            case 2, 3: (method, parameters) = ("get", "{\"paths\":[\(patterns)]}")
            case 4: (method, parameters) = ("set", "{\"path\":\"\(path)\",\"value\":\(counter)}")
            case 5:
                (method, parameters) = (
                    "transact",
                    "{\"mutations\":[{\"op\":\"add\",\"path\":\"/w/v1.n\",\"value\":1},{\"op\":\"test\",\"path\":\"\(path)\",\"value\":1}]}"
                )
            case 6, 7:
                (method, parameters) = (
                    "subscribe",
                    "{\"paths\":[\(patterns)],\"events\":[\"update\"\(generator.chance(50) ? ",\"structure\"" : "")],\"bookmarks\":\(generator.chance(50))}"
                )
            case 8: (method, parameters) = ("describe", "{\"path\":\"\(path)\"}")
            case 9: (method, parameters) = ("explain", "{\"path\":\"\(path)\"}")
            case 10: (method, parameters) = ("dump", "{\"path\":\"\(path)\"}")
            case 11: (method, parameters) = ("dump", "{\"path\":\"\(path)\",\"format\":\"scene\"}")
            case 12, 13:
                (method, parameters) = (
                    "eval",
                    "{\"expression\":\"\(rule)\",\"at\":\"\(generator.pick(["/", "/w/v0", "/w/v1", "/box2", "/free", path]))\"}"
                )
            case 14: (method, parameters) = ("remove", "{\"path\":\"\(path)\"}")
            case 15: (method, parameters) = ("move", "{\"path\":\"\(path)\",\"index\":0}")
            case 16: (method, parameters) = ("do", "{\"path\":\"\(path)\"}")
            case 17: (method, parameters) = ("delegate", "{\"path\":\"\(path)\"}")
            case 18:
                (method, parameters) = (
                    "onDisconnect", "{\"mutations\":[{\"op\":\"set\",\"path\":\"\(path)\",\"value\":1}]}"
                )
            case 19: (method, parameters) = ("stats", "{}")
            default:
                let rules = ",\"computed\":{\"c\":\"\(rule)\"}"
                (method, parameters) = (
                    "apply",
                    "{\"at\":\"\(generator.pick(["/box2", "/free", "/free/child", "/vault", path]))\",\"mode\":\"merge\",\"document\":{\"agd\":1,\"nodes\":[{\"id\":\"new\",\"state\":{\"s\":\(counter)}\(generator.chance(50) ? rules : "")\(generator.chance(30) ? ",\"binding\":{\"b\":\"$\(path)\"}" : "")}]}}"
                )
            }
            send(client, method, parameters)
        }

        private func send(_ client: Client, _ method: String, _ parameters: String) {
            if let connection = client.connection, sim_is_over(connection) {
                sim_hang_up(connection)
                client.connection = nil
            }
            if client.connection == nil {
                let connection = sim_connect(World.socket, Int32(100 + client.number), client.user, client.user)
                guard connection >= 0 else { return world.fault("nobody listens") }
                client.connection = connection
                client.input = []
                client.output = []
            }
            client.nextID += 1
            requests += 1
            world.tell("variant \(variant): client \(client.number) → \(method) \(parameters.prefix(300))")
            client.output +=
                "{\"jsonrpc\":\"2.0\",\"id\":\(client.nextID),\"method\":\"\(method)\",\"params\":\(parameters)}\n".utf8
            client.flush()
        }

        private func read() {
            for (number, client) in peepers.enumerated() {
                client.flush()
                for line in client.lines() {
                    let text = String(decoding: line, as: UTF8.self)
                    world.tell("variant \(variant): client \(client.number) ← \(text.prefix(300))")
                    lines[number].append(text)
                }
            }
            owner.flush()
            for line in owner.lines() {
                world.tell("variant \(variant): owner ← \(String(decoding: line.prefix(300), as: UTF8.self))")
            }
        }

        func tell() -> (faults: [String], lines: [[String]], requests: Int) {
            world.start()
            // Steps end when nothing is left to do, so both worlds do the same between the same moments.
            for number in 0..<Interference.steps where world.faults.isEmpty && world.daemon != nil {
                world.place = number
                var mixed = SeededGenerator(seed: world.seed &+ UInt64(number) &* 0x9e37_79b9)
                generator = SeededGenerator(seed: mixed.next())
                switch generator.below(10) {
                case 0..<2: touch()
                case 2: change()
                case 3 where generator.chance(20):
                    let client = generator.pick(peepers)
                    if let connection = client.connection { sim_hang_up(connection) }
                    client.connection = nil
                default: for _ in 0..<1 + generator.below(3) { peep(generator.pick(peepers)) }
                }
                for _ in 0..<12 {
                    world.turn()
                    read()
                    sim_advance(2_000_000)
                }
            }
            world.stop()
            return (world.faults, lines, requests)
        }
    }
}
