import AGClient
import AttributeValues
import WireProtocol

extension Session {
    /// Commits mutations as one transaction and prints the revision on a terminal or as JSON.
    func commit(_ mutations: [Mutation], _ writing: Writing) throws(ClientError) {
        let options = writing.options
        let request: Request =
            if mutations.count == 1, mutations[0].operation == .set { .set(mutations[0], options) } else {
                .transact(mutations, options)
            }
        report(revision: try connection().call(request))
    }

    /// `{revision}`: printed as JSON on request. Otherwise success prints nothing.
    func report(revision result: Value) {
        if settings.isJSON { output.json(result) }
    }
}

extension Complaint {
    /// If the attribute is a text, a value that was read as JSON may have been meant as text.
    func explaining(_ value: Value) -> Complaint {
        guard code == ErrorCode.typeMismatch.rawValue, value.string == nil, let hint,
            hint.hasSuffix(" string") || hint.hasSuffix(" string?")
        else { return self }
        var complaint = self
        complaint.hint = "\(hint): to write the text \(value.jsonText), use --string"
        return complaint
    }
}
