import HeadroomModel

// The words of the API that Headroom's own code shares with it, so that `import HeadroomClient` is enough.

/// An upstream limit that tenants share, for example `openai:gpt-4o`.
public typealias PoolID = HeadroomModel.PoolID
/// A consumer of the pools.
public typealias TenantID = HeadroomModel.TenantID
/// An enforcement point. Processes that share no counters need names of their own.
public typealias GatewayID = HeadroomModel.GatewayID
/// How urgent a piece of work is: `interactive`, `nearRealTime`, `batch`.
public typealias Criticality = HeadroomModel.Criticality
/// Why a provider answered as it did: `ok`, `quota`, `overload`, …
public typealias ResponseKind = HeadroomModel.ResponseKind
