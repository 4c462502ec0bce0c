/// The limits of what people set. They are the same wherever they are checked: at the command line, in HTTP bodies, in
/// policies and before storage.
public enum SteeringLimits {
    /// Nothing that a person sets holds longer than a quarter (90 days): what is to hold longer belongs into a contract or
    /// a policy, which are reviewed.
    public static let maxSeconds = 90.0 * 86_400
    /// The same in hours, as policies state it.
    public static let maxHours = maxSeconds / 3600
    /// Of a tier, and of an override in its place. A factor of a million between two tenants is more than any business
    /// needs, and rates divided by it keep their digits.
    public static let weights = 0.001...1000
    /// Characters of a reason: a paragraph, which a list and the audit log can show whole.
    public static let maxReasonCharacters = 500
}
