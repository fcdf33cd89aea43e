import AttributeValues
import Testing

@Suite("Calendar dates")
struct CalendarDateTests {
    @Test("every day of the years 1 to 9999, and one beyond either end, has the date that counting gives")
    func allDays() {
        let first = CivilTime.days(year: 1, month: 1, day: 1)
        let last = CivilTime.days(year: 9999, month: 12, day: 31)
        var year = 0
        var month = 12
        var day = 31
        var wrong = 0
        for days in (first - 1)...(last + 1) {
            let date = CalendarDate(days: days)
            if (date.year, date.month, date.day) != (year, month, day) { wrong += 1 }
            day += 1
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let length = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
            if day > length { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
        #expect(wrong == 0)
        #expect((year, month, day) == (10_000, 1, 2))
    }
}
