/// Classes of ASCII bytes.
extension UInt8 {
    @inlinable package var isDigit: Bool { self >= 0x30 && self <= 0x39 }
    @inlinable package var isLetter: Bool { self | 0x20 >= 0x61 && self | 0x20 <= 0x7a }
    /// True for letters and _.
    @inlinable package var beginsName: Bool { isLetter || self == 0x5f }
    /// True for the bytes of an identifier: letters, digits and _.
    @inlinable package var isOfName: Bool { beginsName || isDigit }

    @inlinable package var hexDigit: UInt32? {
        switch self {
        case 48...57: UInt32(self - 48)
        case 65...70: UInt32(self - 55)
        case 97...102: UInt32(self - 87)
        default: nil
        }
    }
}

extension String {
    /// True for a name made of letters, digits and _ that does not begin with a digit.
    package var isIdentifier: Bool { utf8.first?.beginsName == true && utf8.allSatisfy(\.isOfName) }
}
