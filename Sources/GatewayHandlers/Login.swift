/// The answers with which a browser gets its token as a cookie.
enum Login {
    private static func html(_ status: Status, _ note: String) -> Answer {
        let text = """
            <!doctype html>
            <html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>agd</title>
            <form method="post" action="/login">
            <p>\(note)</p>
            <label>Token <input type="password" name="token" autocomplete="current-password" required autofocus></label>
            <button>Open</button>
            </form></html>

            """
        let headers = [
            ("Cache-Control", "no-store"),
            (
                "Content-Security-Policy",
                "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
            ),
            // With "no-referrer" browsers would send the form with the origin "null".
            ("Referrer-Policy", "same-origin"), ("X-Content-Type-Options", "nosniff"),
        ]
        return Answer(status: status, type: "text/html; charset=utf-8", body: Array(text.utf8), headers: headers)
    }

    static let page = html(.ok, "This dashboard needs a token.")
    static let refused = html(.unauthorized, "This token does not work.")

    private static func redirect(to place: String, _ headers: [(String, String)] = []) -> Answer {
        Answer(
            status: .seeOther, type: "text/plain", body: [],
            headers: [("Cache-Control", "no-store"), ("Location", place)] + headers)
    }

    static let redirect = redirect(to: "/login")

    /// - Parameter isSecure: the browser uses TLS.
    static func accepted(_ token: String, isSecure: Bool) -> Answer {
        let attributes = "Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000\(isSecure ? "; Secure" : "")"
        return redirect(to: "/", [("Set-Cookie", "\(FrontDoor.cookie)=\(token); \(attributes)")])
    }

    static let ended = redirect(
        to: "/login", [("Set-Cookie", "\(FrontDoor.cookie)=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0")])

    static var missing: Answer {
        var answer = Answer.refusal(
            .unauthorized, "this needs a token", code: "denied", hint: "send Authorization: Bearer TOKEN, or use /login"
        )
        answer.headers.append(("WWW-Authenticate", "Bearer"))
        return answer
    }
}
