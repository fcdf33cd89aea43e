import BenchmarkSupport

/// Figures of a daemon from which everything that came has gone.
struct Measure {
    /// Since the start.
    var seconds: Double
    /// Requests that changed something since the measure before, and the daemon's processor time for each.
    var writes: Int
    var microsecondsPerWrite: Double
    var vertices: Int
    var edges: Int
    var storedRows: Int
    var residentKilobytes: Int

    var line: String {
        #"{"benchmark":"soak","seconds":\#(rounded(seconds)),"writes":\#(writes),"vertices":\#(vertices),"edges":\#(edges),"#
            + #""residentKilobytes":\#(residentKilobytes),"storedRows":\#(storedRows),"#
            + #""processorMicrosecondsPerWrite":\#(rounded(microsecondsPerWrite))}"#
    }

    private func rounded(_ number: Double) -> Double { (number * 10).rounded() / 10 }

    /// Places that rules no longer read are freed when there are 64 of them, or as many as rules read.
    static let sparePlaces = 100
    /// Rows of nodes that have gone are there until their turns are folded.
    static let spareRows = 200
    /// The allocator's holes, the last requests' texts and what the kernel counts in pages.
    static let spareKilobytes = 16 << 10

    /// The figures that have grown since an earlier measure, in words.
    func growth(since first: Measure) -> [String] {
        var faults: [String] = []
        func hold(_ what: String, _ now: Int, _ before: Int, _ spare: Int) {
            if now > before + spare { faults.append("\(what) grew from \(before) to \(now)") }
        }
        hold("vertices", vertices, first.vertices, Measure.sparePlaces)
        hold("edges", edges, first.edges, 2 * Measure.sparePlaces)
        hold("rows in the store", storedRows, first.storedRows, Measure.spareRows)
        hold(
            "resident kilobytes", residentKilobytes, first.residentKilobytes,
            Measure.spareKilobytes + first.residentKilobytes / 4)
        return faults
    }
}
