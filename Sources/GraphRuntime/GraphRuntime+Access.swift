import AttributeValues
import SceneModel
import WireProtocol

// Access rules. Every request is held against them before its method does anything, and nowhere else; only what a document
// declares is not known before it has been read.

extension GraphRuntime {
    /// - Throws: `denied`; nothing has changed.
    func checkAccess(of client: ClientID, to request: Request) throws(Failure) {
        try checkAccess(of: client) { (grants) throws(Failure) in try request.forEachNeed(grants.require) }
    }

    /// What a document declares holds in the whole graph, wherever its nodes are put.
    func checkAccess(of client: ClientID, to declarations: Declarations) throws(Failure) {
        guard !declarations.isEmpty else { return }
        try checkAccess(of: client) { (grants) throws(Failure) in try grants.require(.define, .everything) }
    }

    private func checkAccess(of client: ClientID, _ check: (Grants) throws(Failure) -> Void) throws(Failure) {
        guard let grants = clients[client]?.grants else { return }
        do throws(Failure) { try check(grants) } catch {
            if error.code == .denied {
                statistics.denials += 1
                outcome.denials.append((client, error))
            }
            throw error
        }
    }

    /// New rules hold for everybody from here on. Subscriptions that they no longer allow end, with the reason.
    func changeAccess(to rules: AccessRules) {
        access = rules
        for client in clients.keys.sorted(by: { $0.number < $1.number }) {
            guard let peer = clients[client]?.peer else { continue }
            let grants = rules.grants(to: peer)
            clients[client]?.grants = grants
            guard let grants else { continue }
            let subscriptions = (clients[client]?.subscriptions ?? []).sorted()
            end(subscriptions.filter { refuse($0, of: client, unlessAllowedBy: grants) })
        }
    }

    /// - Returns: whether the client has been told that the subscription ends.
    private func refuse(_ number: Int64, of client: ClientID, unlessAllowedBy grants: Grants) -> Bool {
        do throws(Failure) {
            for pattern in subscriptions[number]?.topic.patterns ?? [] { try grants.require(.read, pattern) }
            return false
        } catch {
            deliver([(client, number)], .ended(error.code, reason: error.message))
            return true
        }
    }
}
