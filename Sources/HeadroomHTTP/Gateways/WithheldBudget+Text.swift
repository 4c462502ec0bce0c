import HeadroomJSON
import HeadroomModel

extension WithheldBudget {
    /// For a person: what is withheld, for how long, and how that ends earlier.
    var sentence: String {
        return
            "\(RateText.sentence(rates)) of \(pool) are withheld for \(gateway), which has not been heard of, "
            + "until \(RFC3339.format(milliseconds: until.milliseconds)); DELETE /v1/gateways/\(gateway) frees them"
    }
}
