import Archive
import AttributeValues
import ViewGraph
import WireProtocol

/// The moments of an archive at which a graph can begin: those of its images. The last one stays in memory.
final class Moments {
    private let folder: String
    let names = RowNames()
    /// Without the scenes. They never change.
    private var bases: [UInt64: SegmentBasis] = [:]
    private var last: (number: UInt64, size: Int, image: Beginning)?

    /// A position in a segment, and the rows of that moment.
    struct Beginning {
        var reader: SegmentReader
        var table: RowTable
        var position: RecordedTransaction

        var copy: Beginning { Beginning(reader: SegmentReader(reader), table: table, position: position) }
    }

    init(of folder: String) { self.folder = folder }

    private func basis(of number: UInt64) -> SegmentBasis? {
        if let known = bases[number] { return known }
        guard var basis = SegmentBasis(of: number, in: folder) else { return nil }
        basis.scenes = []
        bases[number] = basis
        return basis
    }

    /// The last image that is complete at a moment; nil as time: now.
    /// - Parameters:
    ///   - orLater: if the archive does not reach back so far, the first one that it has.
    ///   - present: another beginning. It is returned if it is later than the last image.
    /// - Throws: `notFound` if the archive does not reach back so far.
    func begin(at time: PastTime?, orLater: Bool = false, or present: Beginning? = nil) throws(Failure) -> Beginning {
        let segments = Segment.all(in: folder)
        guard !segments.isEmpty else {
            throw Failure(.notFound, "the archive \(folder) is empty", hint: "agd writes it once a second")
        }
        var end = segments.count
        if case .time? = time, let time {
            // Time goes on from segment to segment.
            end = segments.indices.partitioningIndex { basis(of: segments[$0].number)?.reaches(time) == false }
        }
        for segment in segments[..<end].reversed() {
            if let present, present.reader.number == segment.number { return present }
            guard let basis = basis(of: segment.number) else { continue }
            if let time, !basis.reaches(time) { continue }
            if let found = try image(of: segment, before: time) { return found }
        }
        if orLater {
            for segment in segments { if let found = try image(of: segment, before: nil) { return found } }
        }
        let oldest = segments.lazy.compactMap { self.basis(of: $0.number)?.wall }.first
        let begin = oldest.map { ", which begins at \($0)" } ?? ""
        throw Failure(.notFound, "the archive does not reach back so far\(begin)")
    }

    /// - Returns: nil if the segment's image ends after the moment, or is not complete.
    func image(of segment: Segment.File, before time: PastTime?) throws(Failure) -> Beginning? {
        if let last, last.number == segment.number, last.size == segment.size {
            if let time, last.image.position.isBeyond(time, in: last.image.reader.basis.epoch) { return nil }
            return last.image.copy
        }
        guard let reader = SegmentReader(segment.number, in: folder) else { return nil }
        var table = RowTable(names)
        var position = RecordedTransaction(
            revision: reader.basis.revision, wall: reader.basis.wall, elapsed: reader.basis.elapsed)
        while let record = try reader.next() {
            if case .transaction(let transaction) = record {
                if let time, transaction.isBeyond(time, in: reader.basis.epoch) { return nil }
                position = transaction
            }
            table.apply(record, at: position.revision)
            if case .imageEnds = record {
                let image = Beginning(reader: reader, table: table, position: position)
                last = (segment.number, segment.size, image.copy)
                return image
            }
        }
        return nil
    }
}

extension SegmentBasis {
    /// False if a moment is before the segment.
    package func reaches(_ time: PastTime) -> Bool {
        switch time {
        case .time(let time): wall <= time
        case .revision(let number, let epoch): (epoch ?? self.epoch) == self.epoch && revision <= number
        }
    }
}

extension RecordedTransaction {
    func isBeyond(_ time: PastTime, in life: String) -> Bool {
        switch time {
        case .time(let time): wall > time
        case .revision(let number, let epoch): (epoch ?? life) != life || revision > number
        }
    }
}

extension RecordBound {
    /// The end of the records of a life up to a moment; nil: all.
    init(_ time: PastTime?, in life: String) {
        switch time {
        case nil: self.init()
        case .time(let wall)?: self.init(wall: wall)
        case .revision(let number, let epoch)?: self.init(revision: (epoch ?? life) == life ? number : 0)
        }
    }
}
