/// The price of a tenant's use, and the most that it may cost in a day or a month.
///
/// All money is in whole millionths of the currency's unit: 2.50 is 2,500,000. Headroom converts no currencies; the
/// contract's is what its invoices are in.
public struct CostTerms: Equatable, Sendable {
    public struct Price: Equatable, Sendable {
        /// `nil`: in every pool that has no price of its own.
        public var pool: PoolID?
        public var perMillionInputTokens: Int64
        /// Of input that the provider had cached; part of the input.
        public var perMillionCachedInputTokens: Int64
        public var perMillionOutputTokens: Int64
        public var perRequest: Int64

        /// - Parameter perMillionCachedInputTokens: `nil`: what input costs.
        public init(
            pool: PoolID? = nil, perMillionInputTokens: Int64 = 0, perMillionCachedInputTokens: Int64? = nil,
            perMillionOutputTokens: Int64 = 0, perRequest: Int64 = 0
        ) {
            self.pool = pool
            self.perMillionInputTokens = perMillionInputTokens
            self.perMillionCachedInputTokens = perMillionCachedInputTokens ?? perMillionInputTokens
            self.perMillionOutputTokens = perMillionOutputTokens
            self.perRequest = perRequest
        }

        /// In millionths.
        /// - Parameter cachedInputTokens: of `inputTokens`; no more than these count.
        public func cost(
            requests: Double, inputTokens: Double, cachedInputTokens: Double = 0, outputTokens: Double
        ) -> Double {
            let cached = min(cachedInputTokens, inputTokens)
            let tokens =
                (inputTokens - cached) * Double(perMillionInputTokens) + cached * Double(perMillionCachedInputTokens)
                + outputTokens * Double(perMillionOutputTokens)
            return requests * Double(perRequest) + tokens / 1e6
        }
    }

    /// In UTC.
    public enum Period: Int, CaseIterable, Sendable {
        case day, month

        public var name: String {
            switch self {
            case .day: "day"
            case .month: "month"
            }
        }

        /// The days of the one that `instant` lies in.
        public func days(around instant: Timestamp) -> Range<Int64> {
            switch self {
            case .day: instant.day..<instant.day + 1
            case .month: CivilMonth(containing: instant.day).days
            }
        }
    }

    /// ISO 4217, as `EUR`.
    public var currency: String
    public var period: Period
    public var most: Int64
    /// The one of every pool first, then ascending by pool; each once.
    public var prices: [Price]

    /// - Parameter prices: in any order.
    public init(currency: String, period: Period, most: Int64, prices: [Price]) {
        self.currency = currency
        self.period = period
        self.most = most
        self.prices = prices.sorted { ($0.pool?.text ?? "") < ($1.pool?.text ?? "") }
    }

    /// `nil`: use of the pool costs nothing.
    public func price(in pool: PoolID) -> Price? {
        prices.first { $0.pool == pool } ?? prices.first { $0.pool == nil }
    }

    /// The largest price, and the most that use may cost: a hundred millions of the unit.
    public static let largest = 1e14

    /// Of ISO 4217, those that are in use; without metals and test codes.
    public static let currencies = Set(
        """
        AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP \
        CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF \
        IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD \
        MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB \
        RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD \
        UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG
        """.split(separator: " ").map(String.init))
}

/// One tenant's use of one pool in one day: prices apply to it.
public struct TenantUse: Equatable, Sendable {
    public var tenant: TenantID
    public var pool: PoolID
    /// Since 1970, in UTC.
    public var day: Int64
    /// Those that were served.
    public var requests: Int64
    public var inputTokens: Int64
    /// Of these, what the provider had cached.
    public var cachedInputTokens: Int64
    public var outputTokens: Int64

    public init(
        tenant: TenantID, pool: PoolID, day: Int64, requests: Int64, inputTokens: Int64, cachedInputTokens: Int64 = 0,
        outputTokens: Int64
    ) {
        self.tenant = tenant
        self.pool = pool
        self.day = day
        self.requests = requests
        self.inputTokens = inputTokens
        self.cachedInputTokens = cachedInputTokens
        self.outputTokens = outputTokens
    }

    public init(_ rollup: Rollup) {
        self.init(
            tenant: rollup.tenant, pool: rollup.pool, day: rollup.start.day, requests: rollup.ok,
            inputTokens: rollup.inputTokens, cachedInputTokens: rollup.cachedInputTokens,
            outputTokens: rollup.outputTokens)
    }
}

/// The money that a tenant may still spend, as of one minute.
public struct CostAllowance: Equatable, Sendable {
    public var terms: CostTerms
    /// In millionths, as all money.
    public var spent: Double
    public var until: Timestamp
    /// A minute at least.
    public var minutesLeft: Double
    /// Of the input tokens that were used lately, the part that the provider had cached, 0 to 1; none where there is no pool.
    public var cachedShares: [PoolID: Double]

    public init(
        terms: CostTerms, spent: Double, until: Timestamp, minutesLeft: Double, cachedShares: [PoolID: Double] = [:]
    ) {
        self.terms = terms
        self.spent = spent
        self.until = until
        self.minutesLeft = minutesLeft
        self.cachedShares = cachedShares
    }
}
