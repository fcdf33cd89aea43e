import Testing

@testable import agd_host_feeder

@Suite("Reading /proc")
struct ReadingTests {
    @Test("cpu times leave idle and waiting out of busy, and guests, counted twice by the kernel, once")
    func cpuTimes() {
        let stat = ProcText(
            """
            cpu  100 20 30 800 40 5 6 7 50 10
            cpu0 60 10 15 400 20 5 6 7 50 10
            cpu1 40 10 15 400 20 0 0 0 0 0
            intr 486503 0 0
            cpufreq 1 2 3 4 5 6 7 8
            """)
        #expect(
            CPUTimes.read(stat) == [
                CPUTimes(id: "cpu", busy: 168, total: 1008), CPUTimes(id: "cpu0", busy: 103, total: 523),
                CPUTimes(id: "cpu1", busy: 65, total: 485),
            ])
    }

    @Test("memory is in bytes, and a file without a total is none")
    func memory() {
        let text = """
            MemTotal:       24605432 kB
            MemFree:        21000000 kB
            MemAvailable:   22000000 kB
            Cached:          1000000 kB
            HugePages_Total:       0
            SwapTotal:       2000000 kB
            SwapFree:        1500000 kB
            """
        #expect(
            MemoryUse.read(ProcText(text))
                == MemoryUse(
                    total: 25_195_962_368, available: 22_528_000_000, cached: 1_024_000_000, swapTotal: 2_048_000_000,
                    swapFree: 1_536_000_000))
        #expect(MemoryUse.read(ProcText("MemFree: 1 kB\n")) == nil)
    }

    @Test("the load is three averages and the tasks behind them")
    func load() {
        #expect(
            LoadAverage.read(ProcText("1.24 0.76 0.40 3/412 16117\n"))
                == LoadAverage(one: 1.24, five: 0.76, fifteen: 0.4, runningTasks: 3, tasks: 412))
        #expect(LoadAverage.read(ProcText("1.24 0.76")) == nil)
    }

    @Test("pressure is the average over ten seconds; cpu has no full on older kernels")
    func pressure() {
        let both = """
            some avg10=2.72 avg60=4.93 avg300=3.21 total=29907980
            full avg10=0.50 avg60=0.00 avg300=0.00 total=0

            """
        #expect(Pressure.read("io", ProcText(both)) == Pressure(id: "io", some: 2.72, full: 0.5))
        #expect(
            Pressure.read("cpu", ProcText("some avg10=7.00 avg60=1 avg300=1 total=1\n"))
                == Pressure(id: "cpu", some: 7, full: 0))
        #expect(Pressure.read("cpu", ProcText("")) == nil)
    }

    @Test(
        "the loopback and interfaces that never carried a byte are left out; names may hold colons and touch their numbers"
    )
    func interfaces() {
        let dev = """
            Inter-|   Receive                                                |  Transmit
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
                lo:    3345      32    0    0    0     0          0         0     3345      32    0    0    0     0       0          0
              ifb0:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
            eth0:1:166500772    3703    0    0    0     0          0         0   156562    2005    0    0    0     0       0          0
            """
        #expect(
            InterfaceTraffic.read(ProcText(dev)) == [
                InterfaceTraffic(id: "eth0:1", received: 166_500_772, sent: 156_562)
            ])
    }

    @Test("disks are counted in bytes, without their partitions, loop and memory devices")
    func disks() {
        let diskstats = """
               7       0 loop0 5 0 40 0 0 0 0 0 0 0 0 0 0 0 0 0 0
               1       0 ram0 5 0 40 0 0 0 0 0 0 0 0 0 0 0 0 0 0
             253       0 zram0 9 9 9 9 9 9 9 9 0 0 0 0 0 0 0 0 0
             254       0 vda 122337 30584 20258658 182782 31940 20621 2917928 13142 1 49216 197313 8157 0 870216 1121 4535 267
             254       1 vda1 122337 30584 20258000 182782 31940 20621 2917928 13142 1 49216 197313 8157 0 870216 1121 4535 267
             259       0 nvme0n1 10 0 100 0 10 0 200 0 0 0 0
             259       1 nvme0n1p1 10 0 100 0 10 0 200 0 0 0 0
               8       0 sda 10 0 2 0 10 0 4 0 0 0 0
               8      16 sdb 0 0 0 0 0 0 0 0 0 0 0
            """
        #expect(
            DiskTraffic.read(ProcText(diskstats)) == [
                DiskTraffic(id: "vda", read: 10_372_432_896, written: 1_493_979_136),
                DiskTraffic(id: "nvme0n1", read: 51_200, written: 102_400),
                DiskTraffic(id: "sda", read: 1024, written: 2048),
            ])
    }

    @Test("a process may put spaces and brackets into its name")
    func processes() {
        let stat =
            "4321 (a ) (b 7) R 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 1 0 99887 123456789 2048 18446744073709551615 1"
        #expect(
            ProcessTimes.read(ProcText(stat), pageSize: 4096)
                == ProcessTimes(id: 4321, name: "a ) (b 7", ticks: 200, start: 99887, resident: 8_388_608))
        #expect(ProcessTimes.read(ProcText("4321 (gone"), pageSize: 4096) == nil)
    }

    @Test(
        "truncated or garbled lines are skipped and crash nothing",
        arguments: [
            "cpu 1 2", "cpu a b c d e f g h", "4 (x) R 1", ":::", "some avg10=", "\n\n\n", "(", "\u{7f}/",
            "eth0: 1 2 3",
        ])
    func garbled(text: String) {
        #expect(CPUTimes.read(ProcText(text)).isEmpty)
        #expect(MemoryUse.read(ProcText(text)) == nil)
        #expect(LoadAverage.read(ProcText(text)) == nil)
        #expect(Pressure.read("io", ProcText(text)) == nil)
        #expect(InterfaceTraffic.read(ProcText(text)).isEmpty)
        #expect(DiskTraffic.read(ProcText(text)).isEmpty)
        #expect(ProcessTimes.read(ProcText(text), pageSize: 4096) == nil)
    }
}

@Suite("Sampling this machine")
struct SampleTests {
    @Test("the kernel's own /proc is understood: CPUs, memory, load and this very process")
    func thisMachine() throws {
        let sample = Sample(ProcFolder())
        #expect(!sample.cpus.isEmpty)
        let all = try #require(sample.allCPUs)
        #expect(all.total >= all.busy && all.busy > 0)
        let memory = try #require(sample.memory)
        #expect(memory.available > 0 && memory.available <= memory.total)
        #expect(try #require(sample.load).tasks > 0)
        #expect(sample.processes.values.contains { $0.resident > 0 && $0.start > 0 })
        #expect(sample.uptime > 0)
    }

    @Test("a folder without any of the files gives an empty sample")
    func nothingThere() {
        var sample = Sample(ProcFolder(path: "/nonexistent"))
        sample.wall = .epoch
        sample.monotonic = 0
        #expect(sample == Sample())
    }
}
