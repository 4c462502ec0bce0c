/// What commands take where nothing is given.
enum Defaults {
    /// In the working directory.
    static let database = "headroom.sqlite"
    /// In the working directory.
    static let policies = "policies"
    static let url = "http://127.0.0.1:8420"
}
