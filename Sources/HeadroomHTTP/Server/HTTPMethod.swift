/// The methods that Headroom's routes use; any other is ``other`` and is answered with 405.
package enum HTTPMethod: String, Sendable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
    case other = "?"
}
