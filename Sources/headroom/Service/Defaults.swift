/// The values of options that are not given.
enum Defaults {
    /// In the working directory.
    static let database = "headroom.sqlite"
    /// In the working directory.
    static let policies = "policies"
    static let url = "http://127.0.0.1:8420"
}
