/// The sensors of the machine (`/sys/class/hwmon` and `/sys/class/thermal`).
struct Sensors: Equatable, Sendable {
    struct Temperature: Equatable, Sendable {
        var id: String
        var celsius: Double
        /// From here on the device is too hot, if it says so.
        var high: Double?
        /// From here on the device is in danger, if it says so.
        var critical: Double?
    }

    struct Fan: Equatable, Sendable {
        var id: String
        /// Turns per minute.
        var speed: Int64
    }

    var temperatures: [Temperature] = []
    var fans: [Fan] = []

    /// Reads every sensor once. A slow bus takes milliseconds for each.
    init(_ sys: SystemFolder) {
        var chips: Set<String> = []
        for chip in sys.names(in: "class/hwmon").sorted(by: Sensors.isBefore) {
            let folder = "class/hwmon/" + chip
            guard let name = sys.line(folder + "/name") else { continue }
            chips.insert(name)
            for file in sys.names(in: folder).sorted(by: Sensors.isBefore) where file.hasSuffix("_input") {
                let input = String(file.dropLast("_input".count))
                let sensor = folder + "/" + input
                guard let reading = sys.number(sensor + "_input") else { continue }
                let id = name + " " + (sys.line(sensor + "_label") ?? input)
                if input.hasPrefix("temp") {
                    temperatures.append(
                        Temperature(
                            id: id, celsius: Double(reading) / 1000, high: Sensors.limit(sys.number(sensor + "_max")),
                            critical: Sensors.limit(sys.number(sensor + "_crit"))))
                } else if input.hasPrefix("fan") {
                    fans.append(Fan(id: id, speed: reading))
                }
            }
        }
        // The kernel shows most zones as chips, too, with other dashes.
        for zone in sys.names(in: "class/thermal").sorted(by: Sensors.isBefore) where zone.hasPrefix("thermal_zone") {
            let folder = "class/thermal/" + zone
            guard let type = sys.line(folder + "/type"), !chips.contains(String(type.map { $0 == "-" ? "_" : $0 })),
                let reading = sys.number(folder + "/temp")
            else { continue }
            var limits: [String: Double] = [:]
            for file in sys.names(in: folder) where file.hasPrefix("trip_point_") && file.hasSuffix("_type") {
                let point = folder + "/" + file.dropLast("_type".count)
                if let kind = sys.line(folder + "/" + file) {
                    limits[kind] = Sensors.limit(sys.number(point + "_temp"))
                }
            }
            temperatures.append(
                Temperature(
                    id: type, celsius: Double(reading) / 1000, high: limits["hot"], critical: limits["critical"]))
        }
    }

    init() {}

    /// Chips without a limit have 0 there, or 65261.85 °C.
    private static func limit(_ thousandths: Int64?) -> Double? {
        thousandths.map { Double($0) / 1000 }.flatMap { (1...250).contains($0) ? $0 : nil }
    }

    /// `temp2` is before `temp10`.
    private static func isBefore(_ a: String, _ b: String) -> Bool {
        (a.utf8.count, a) < (b.utf8.count, b)
    }
}
