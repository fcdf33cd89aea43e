/// `/proc/loadavg`: tasks that run or wait for a disk, averaged over 1, 5 and 15 minutes.
struct LoadAverage: Equatable {
    var one: Double
    var five: Double
    var fifteen: Double
    var runningTasks: Int64
    var tasks: Int64

    static func read(_ loadavg: SystemText) -> LoadAverage? {
        var text = loadavg
        guard let one = text.decimal(), let five = text.decimal(), let fifteen = text.decimal(),
            let running = text.text(upTo: UInt8(ascii: "/")).flatMap({ Int64($0.drop { $0 == " " }) }),
            let tasks = text.number()
        else { return nil }
        return LoadAverage(one: one, five: five, fifteen: fifteen, runningTasks: running, tasks: tasks)
    }
}
