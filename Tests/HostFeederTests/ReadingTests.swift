import CSystemd
import Glibc
import TestSupport
import Testing

@testable import agd_host_feeder

@Suite("Reading /proc and /sys")
struct ReadingTests {
    @Test("cpu times leave idle and waiting out of busy, and guests, counted twice by the kernel, once")
    func cpuTimes() {
        let stat = SystemText(
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
            MemoryUse.read(SystemText(text))
                == MemoryUse(
                    total: 25_195_962_368, available: 22_528_000_000, cached: 1_024_000_000, swapTotal: 2_048_000_000,
                    swapFree: 1_536_000_000))
        #expect(MemoryUse.read(SystemText("MemFree: 1 kB\n")) == nil)
    }

    @Test("the load is three averages and the tasks behind them")
    func load() {
        #expect(
            LoadAverage.read(SystemText("1.24 0.76 0.40 3/412 16117\n"))
                == LoadAverage(one: 1.24, five: 0.76, fifteen: 0.4, runningTasks: 3, tasks: 412))
        #expect(LoadAverage.read(SystemText("1.24 0.76")) == nil)
    }

    @Test("pressure is the average over ten seconds; cpu has no full on older kernels")
    func pressure() {
        let both = """
            some avg10=2.72 avg60=4.93 avg300=3.21 total=29907980
            full avg10=0.50 avg60=0.00 avg300=0.00 total=0

            """
        #expect(Pressure.read("io", SystemText(both)) == Pressure(id: "io", some: 2.72, full: 0.5))
        #expect(
            Pressure.read("cpu", SystemText("some avg10=7.00 avg60=1 avg300=1 total=1\n"))
                == Pressure(id: "cpu", some: 7, full: 0))
        #expect(Pressure.read("cpu", SystemText("")) == nil)
    }

    @Test(
        "interfaces that never carried a byte are left out; names may hold colons and touch their numbers"
    )
    func interfaces() {
        let dev = """
            Inter-|   Receive                                                |  Transmit
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
                lo:    3345      32    0    0    0     0          0         0     3345      32    0    0    0     0       0          0
              ifb0:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
            eth0:1:166500772    3703    1    2    9     9          9         9   156562    2005    3    4    9     9       9          9
            """
        #expect(
            InterfaceTraffic.read(SystemText(dev)) == [
                InterfaceTraffic(id: "lo", received: 3345, sent: 3345, errors: 0),
                InterfaceTraffic(id: "eth0:1", received: 166_500_772, sent: 156_562, errors: 10),
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
             259       0 nvme0n1 10 0 100 0 10 0 200 0 0 7 0
             259       1 nvme0n1p1 10 0 100 0 10 0 200 0 0 0 0
               8       0 sda 10 0 2 0 10 0 4 0 0 0 0
               8      16 sdb 0 0 0 0 0 0 0 0 0 0 0
            """
        #expect(
            DiskTraffic.read(SystemText(diskstats)) == [
                DiskTraffic(
                    id: "vda", read: 10_372_432_896, written: 1_493_979_136, reads: 122_337, writes: 31940, busy: 49216),
                DiskTraffic(id: "nvme0n1", read: 51_200, written: 102_400, reads: 10, writes: 10, busy: 7),
                DiskTraffic(id: "sda", read: 1024, written: 2048, reads: 10, writes: 10, busy: 0),
            ])
    }

    @Test("a process may put spaces and brackets into its name")
    func processes() {
        let stat =
            "4321 (a ) (b 7) R 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 1 0 99887 123456789 2048 18446744073709551615 1"
        #expect(
            ProcessTimes.read(SystemText(stat), pageSize: 4096)
                == ProcessTimes(id: 4321, name: "a ) (b 7", ticks: 200, start: 99887, resident: 8_388_608))
        #expect(ProcessTimes.read(SystemText("4321 (gone"), pageSize: 4096) == nil)
    }

    @Test("numbers are read without a text, to the ends of their range") func numbers() {
        var text = SystemText(
            "9223372036854775807 -9223372036854775808 -7 9223372036854775808 -9223372036854775809 - 1x")
        #expect(text.number() == .max)
        #expect(text.number() == .min)
        #expect(text.number() == -7)
        for _ in 0..<4 { #expect(text.number() == nil) }
        #expect(text.number() == nil)
    }

    @Test("of file systems that fill up each is there once, at its best mount point, whatever its name")
    func mounts() throws {
        let text = try #require(Recorded.machine.proc.text("1/mountinfo"))
        #expect(
            Mount.read(text) == [
                Mount(path: Array("/run".utf8), type: "tmpfs", source: "tmpfs"),
                // Not /var/www, which is a part of it.
                Mount(path: Array("/".utf8), type: "ext4", source: "/dev/mapper/vg-root"),
                Mount(path: Array("/dev/shm".utf8), type: "tmpfs", source: "tmpfs"),
                Mount(path: Array("/boot/efi".utf8), type: "vfat", source: "/dev/nvme0n1p1"),
                Mount(path: Array("/srv/data disk".utf8), type: "nfs4", source: "nas:/data disk"),
                // A later mount at the same point hides the earlier one.
                Mount(path: Array("/srv/old".utf8), type: "btrfs", source: "/dev/sdb"),
            ])
        let odd = Mount.read(
            SystemText("1 0 8:1 / /a\\012\\134\\377\\9 rw - ext4 /dev/a rw\n2 0 8:2 / /b rw - ext4\nx\n"))
        #expect(odd.map(\.path) == [Array("/a\n\\".utf8) + [0xff] + Array("\\9".utf8)])
        #expect(odd.first?.name == "/a\n\\\u{fffd}\\9")
    }

    @Test("a file system is asked for its size by bytes, and one without a size or a place is none")
    func fileSystems() throws {
        let folder = try Folder()
        let path = Array("/dis\n".utf8) + [0xff]
        #expect(mkdir((Array(folder.path.utf8) + path + [0]).map { CChar(bitPattern: $0) }, 0o700) == 0)
        let mount = Mount(path: path, type: "ext4", source: "/dev/a")
        let found = try #require(FileSystem.read(mount, below: folder.path))
        #expect(found.id == "/dis\n\u{fffd}" && found.size > 0)
        #expect(found.used > 0 && found.used + found.free <= found.size)
        #expect(FileSystem.read(mount, below: folder.path + "/other") == nil)
        #expect(FileSystem.read(Mount(path: Array("/proc".utf8), type: "proc", source: "proc"), below: "") == nil)
    }

    @Test("temperatures have names, and limits where a chip has some; a zone that is a chip counts once")
    func sensors() {
        let sensors = Sensors(Recorded.machine.sys)
        #expect(
            sensors.temperatures == [
                .init(id: "coretemp Package id 0", celsius: 47, high: 80, critical: 100),
                .init(id: "coretemp Core 0", celsius: 45, high: 80, critical: 100),
                .init(id: "coretemp Core 8", celsius: 46.5, high: 80, critical: 100),
                .init(id: "nvme Composite", celsius: 38.85, high: nil, critical: 84.85),
                .init(id: "nvme Composite", celsius: 38.85, high: nil, critical: 84.85),
                .init(id: "cpu_thermal temp1", celsius: 51, high: nil, critical: nil),
                .init(id: "acpitz", celsius: 27.8, high: nil, critical: 119),
            ])
        #expect(sensors.fans == [.init(id: "nct6798 fan1", speed: 0), .init(id: "nct6798 CPU fan", speed: 1132)])
        #expect(Sensors(SystemFolder(path: "/nonexistent")) == Sensors())
    }

    @Test("groups are services, sessions and containers below slices; containers have the names that people use")
    func groups() {
        let groups = ControlGroup.read(Recorded.machine.sys)
        #expect(
            groups.map(\.id) == [
                "init", "container abababababab", "lxc mail", "machine qemu-1-build box", "docker 4f4f4f4f4f4f",
                "nginx",
                "getty@tty1", "session-3", "app", "podman c0c0c0c0c0c0",
            ])
        #expect(groups.filter { $0.container != nil }.count == 5)
        let docker = groups.first { $0.container?.runtime == "docker" }
        #expect(docker?.usage == 2_000_000 && docker?.memory == 300_000_000 && docker?.limit == 512_000_000)
        let nginx = groups.first { $0.path == "system.slice/nginx.service" }
        #expect(nginx?.limit == nil && nginx?.tasks == 5)
        #expect(ControlGroup.read(SystemFolder(path: "/nonexistent")).isEmpty)
    }

    @Test("the clock is in microseconds or nanoseconds, and free without a time service") func clock() {
        var clock = timex()
        clock.offset = 1500
        clock.maxerror = 250_000
        #expect(ClockState(state: TIME_OK, clock) == ClockState(isSynchronized: true, offset: 0.0015, error: 0.25))
        clock.status = STA_NANO
        #expect(ClockState(state: TIME_OK, clock).offset == 1.5e-6)
        #expect(!ClockState(state: TIME_ERROR, clock).isSynchronized)
        clock.status = STA_UNSYNC
        #expect(!ClockState(state: TIME_OK, clock).isSynchronized)
    }

    @Test(
        "truncated or garbled lines are skipped and crash nothing",
        arguments: [
            "cpu 1 2", "cpu a b c d e f g h", "4 (x) R 1", ":::", "some avg10=", "\n\n\n", "(", "\u{7f}/",
            "eth0: 1 2 3", "1 2 8:1 / /a rw", "1 2 8:1 / /a rw -", "- - - - - - -",
        ])
    func garbled(text: String) {
        #expect(CPUTimes.read(SystemText(text)).isEmpty)
        #expect(MemoryUse.read(SystemText(text)) == nil)
        #expect(LoadAverage.read(SystemText(text)) == nil)
        #expect(Pressure.read("io", SystemText(text)) == nil)
        #expect(InterfaceTraffic.read(SystemText(text)).isEmpty)
        #expect(Mount.read(SystemText(text)).isEmpty)
        #expect(DiskTraffic.read(SystemText(text)).isEmpty)
        #expect(ProcessTimes.read(SystemText(text), pageSize: 4096) == nil)
    }
}

@Suite("Sampling this machine")
struct SampleTests {
    @Test("the kernel's own /proc is understood: CPUs, memory, load and this very process")
    func thisMachine() throws {
        let sample = Sample(Machine())
        #expect(!sample.cpus.isEmpty)
        let all = try #require(sample.allCPUs)
        #expect(all.total >= all.busy && all.busy > 0)
        let memory = try #require(sample.memory)
        #expect(memory.available > 0 && memory.available <= memory.total)
        #expect(try #require(sample.load).tasks > 0)
        #expect(sample.processes.values.contains { $0.resident > 0 && $0.start > 0 })
        #expect(sample.uptime > 0)
        #expect(sample.hostName?.isEmpty == false && sample.kernel?.isEmpty == false)
        #expect(sample.clock != nil)
    }

    @Test("a recorded machine: hardware is told from what stands on it, and the loopback apart")
    func recorded() {
        let sample = Sample(Recorded.machine)
        #expect(sample.hostName == "web-01" && sample.kernel == "6.1.0-28-amd64" && sample.uptime == 432_000.17)
        #expect(sample.interfaces.map(\.id) == ["enp3s0", "docker0", "*"])
        #expect(sample.interfaces.map(\.isVirtual) == [false, true, true])
        #expect(sample.loopback?.received == 5_000_000)
        #expect(sample.disks.map(\.id) == ["nvme0n1", "dm-0"] && sample.disks.map(\.isVirtual) == [false, true])
        #expect(sample.processes.values.map(\.name).sorted() == ["nginx: worker (1)", "systemd"])
    }

    @Test("a folder without any of the files gives an empty sample")
    func nothingThere() {
        let nothing = SystemFolder(path: "/nonexistent")
        var sample = Sample(Machine(proc: nothing, sys: nothing))
        sample.clock = nil
        sample.wall = .epoch
        sample.monotonic = 0
        #expect(sample == Sample())
    }
}

/// A server as its kernel shows it: LVM, sensors, containers of several runtimes, mounts of another machine.
enum Recorded {
    static let folder = String(#filePath.dropLast("ReadingTests.swift".count)) + "Fixtures/"
    static let machine = Machine(
        proc: SystemFolder(path: folder + "server/proc"), sys: SystemFolder(path: folder + "server/sys"),
        root: "/nonexistent", bus: "unix:path=/nonexistent")
}
