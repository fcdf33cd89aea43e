import AttributeValues
import CommandArguments
import Testing

@testable import agd_bridge

@Suite("The configuration of the bridge")
struct ConfigurationTests {
    private func faults(_ text: String) -> [String] {
        do throws(ConfigurationFaults) {
            _ = try Configuration(text: text, file: "f")
            return []
        } catch { return error.faults.map(\.description) }
    }

    @Test("lines are read as they are described")
    func lines() throws {
        let settings = try Configuration(
            text: """
                scrape = http://localhost:9100/metrics every 15s to /node.metrics
                poll = https://example.net/a?to=b every 1m to /weather.now with =body.current.temperature + 1.0
                run = sensors -j "a b" "" every 10s to /temps.now
                run = tail -f /var/log/x to /log.last
                mqtt = mqtt://me:secret@[::1]:1884
                from-mqtt = zigbee2mqtt/+ to /home.devices
                to-mqtt = /home/** as agd writable
                """, file: "f")
        #expect(settings.scrapes[0].interval == 15)
        #expect(settings.scrapes[0].target.description == "/node.metrics")
        #expect(settings.polls[0].url == "https://example.net/a?to=b")
        #expect(settings.polls[0].rule?.text == "body.current.temperature + 1.0")
        #expect(settings.runs[0].words == ["sensors", "-j", "a b", ""])
        #expect(settings.runs[1].interval == nil)
        #expect(settings.broker == (try BrokerAddress("mqtt://me:secret@[::1]:1884")))
        #expect(settings.broker?.host == "::1" && settings.broker?.password == "secret")
        #expect(settings.outlets[0].isWritable)
        #expect(settings.secrets(in: "f").count == 1)
    }

    @Test(
        "what is wrong is told with what to write",
        arguments: [
            ("", "nothing to do"), ("scrape = http://x to /n.x", "every 15s"),
            ("scrape = x every 1s to /n.x", "begins with http://"),
            ("scrape = http://x every soon to /n.x", "length of time"),
            ("run = x every 1s to /n", "is no state of a node"), ("run = \"x every 1s to /n.x", "quote has no end"),
            ("poll = http://x every 1s to /n.x with =body +", "f:1"),
            ("from-mqtt = a/+ to /n.x", "need a broker"), ("from-mqtt = a/#/b to /n.x", "no filter of MQTT"),
            ("mqtt = localhost", "write mqtt = mqtt://"),
            ("run = a every 1s to /n.x\nrun = b every 1s to /n.y", "two lines write to /n"),
            ("to-mqtt = /x/** as a b", "behind 'as'"), ("mqtt = mqtt://x\nto-mqtt = /x/** as a/+", "without '+'"),
        ])
    func wrong(_ text: String, _ message: String) {
        let faults = faults(text)
        #expect(faults.count == 1)
        #expect(faults.first?.contains(message) == true, "\(faults)")
    }

    @Test("wildcards of a filter name the entry")
    func keys() throws {
        #expect(try TopicFilter("zigbee2mqtt/+").key("zigbee2mqtt/lamp") == "lamp")
        #expect(try TopicFilter("zigbee2mqtt/+").key("zigbee2mqtt/lamp/set") == nil)
        #expect(try TopicFilter("a/+/b/#").key("a/1/b/2/3") == "1/2/3")
        #expect(try TopicFilter("a/#").key("a") == "")
        #expect(try TopicFilter("#").key("$SYS/x") == nil)
        #expect(try TopicFilter("a/b").key("a/b") == "")
    }
}
