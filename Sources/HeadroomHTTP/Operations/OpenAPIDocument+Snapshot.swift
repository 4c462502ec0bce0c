extension OpenAPIDocument {
    /// The answer to `GET /v1/allocations`, whole and as a delta (WireFormat §2).
    static let snapshotSchemas = encoded(
        #"""
        "SnapshotHead": {
          "type": "object",
          "required": ["epoch", "generation", "issued_at", "lease_seconds", "policy", "pools"],
          "properties": {
            "epoch": {"type": "integer",
              "description": "Number of the control plane's term; a gateway ignores a lower one than it has seen"},
            "generation": {"type": "integer", "description": "Rises by 1 with each publication of an epoch"},
            "issued_at": {"type": "string", "format": "date-time"},
            "lease_seconds": {"type": "number",
              "description": "Counted from receipt; once it has run out, use fallback and safe"},
            "policy": {"type": "string", "description": "NAME@DIGEST of the policy files"},
            "pools": {
              "type": "object", "description": "By the pool's name",
              "additionalProperties": {"$ref": "#/components/schemas/PoolAllocation"}
            }
          }
        },
        "Snapshot": {
          "description": "All pools and tenants that the caller may see",
          "allOf": [{"$ref": "#/components/schemas/SnapshotHead"}],
          "not": {"required": ["since"]}
        },
        "SnapshotDelta": {
          "description": "What changed since the snapshot named by since: put the pools, and in them the tenants, in place of those there were, then take away what was removed. A pool in it is whole but for its unchanged tenants",
          "allOf": [{"$ref": "#/components/schemas/SnapshotHead"}],
          "required": ["since", "removed", "removed_pools"],
          "properties": {
            "since": {"$ref": "#/components/schemas/Version"},
            "removed": {
              "type": "object", "description": "Tenants that are gone, by pool",
              "additionalProperties": {"type": "array", "items": {"$ref": "#/components/schemas/Identifier"}}
            },
            "removed_pools": {"type": "array", "items": {"$ref": "#/components/schemas/Identifier"}},
            "service_clocks": {
              "type": "object",
              "description": "By pool and tenant, as in the answers to telemetry: clocks that have moved, of tenants that are otherwise as they were",
              "additionalProperties": {"type": "object", "additionalProperties": {"type": "number"}}
            }
          }
        },
        "LimitRates": {
          "type": "object",
          "description": "Per minute; an absent rate is not limited in this resource",
          "properties": {
            "rpm": {"type": "number", "minimum": 0, "description": "Requests"},
            "tpm": {"type": "number", "minimum": 0, "description": "Tokens"},
            "itpm": {"type": "number", "minimum": 0, "description": "Input tokens"},
            "otpm": {"type": "number", "minimum": 0, "description": "Output tokens"}
          }
        },
        "PoolState": {
          "enum": ["healthy", "pressured", "throttled", "open", "half_open"],
          "description": "open: send nothing, use failover; half_open: send probes_per_second calls, over all gateways"
        },
        "PoolAllocation": {
          "type": "object",
          "required": [
            "state", "mode", "enforce", "level", "models", "capacity", "nominal", "capacity_reason", "budget", "float",
            "fallback", "burst_seconds", "failover", "retry", "tenants", "unlisted"
          ],
          "properties": {
            "state": {"$ref": "#/components/schemas/PoolState"},
            "mode": {"enum": ["observe", "recommend", "guarded", "full"]},
            "enforce": {"type": "boolean", "description": "false: count, and let all calls pass"},
            "level": {"type": "number", "description": "Weighted dominant share that the fill reached"},
            "models": {
              "type": "object", "description": "By the model's name, where models behind the pool have limits of their own",
              "additionalProperties": {
                "type": "object", "required": ["state"],
                "properties": {"state": {"$ref": "#/components/schemas/PoolState"}}
              }
            },
            "capacity": {"$ref": "#/components/schemas/LimitRates"},
            "nominal": {"$ref": "#/components/schemas/LimitRates"},
            "capacity_reason": {
              "enum": ["contract", "headers", "throttled", "probing", "latency", "overload", "manual"]
            },
            "budget": {
              "allOf": [{"$ref": "#/components/schemas/LimitRates"}],
              "description": "What all tenants together may spend: at this gateway with gateway=, else in the whole pool"
            },
            "float": {
              "allOf": [{"$ref": "#/components/schemas/LimitRates"}],
              "description": "Budget of the pool that no gateway has work for just now"
            },
            "fallback": {
              "allOf": [{"$ref": "#/components/schemas/LimitRates"}],
              "description": "The budget once the lease has run out"
            },
            "gateways": {
              "type": "integer",
              "description": "How many gateways have a part of the budget. One that is alone does not draw. Only with gateway="
            },
            "burst_seconds": {"type": "number", "description": "Seconds of the budget that may be spent at once"},
            "failover": {
              "type": "array", "items": {"$ref": "#/components/schemas/Identifier"},
              "description": "Pools that take the work while this one is open, in this order"
            },
            "probes_per_second": {"type": "number", "description": "Only while the state is half_open"},
            "breaker": {
              "type": "object",
              "required": [
                "open_share", "window_seconds", "least_attempts", "open_seconds", "probes_per_second", "close_successes"
              ],
              "description": "By which the gateway's own breaker opens and closes. Absent: 0.5, 10, 20, 15, 1, 5, in the order of required",
              "properties": {
                "open_share": {"type": "number", "minimum": 0.01, "maximum": 1,
                  "description": "Failures over this part of the attempts open it"},
                "window_seconds": {"type": "number", "minimum": 1, "maximum": 60},
                "least_attempts": {"type": "integer", "minimum": 1, "maximum": 10000,
                  "description": "Fewer in the window do not open it"},
                "open_seconds": {"type": "number", "minimum": 1, "maximum": 3600,
                  "description": "From open to half-open"},
                "probes_per_second": {"type": "number", "minimum": 0.01, "maximum": 100,
                  "description": "That a half-open one lets pass"},
                "close_successes": {"type": "integer", "minimum": 1, "maximum": 1000,
                  "description": "Successes in a row that close it"}
              }
            },
            "retry": {
              "type": "object", "required": ["after_ms", "jitter_ms"],
              "description": "After a refusal: wait after_ms, the tenant's retry_offset_ms, and a random part of jitter_ms",
              "properties": {"after_ms": {"type": "integer"}, "jitter_ms": {"type": "integer"}}
            },
            "task_kinds": {
              "type": "object",
              "description": "Kinds of agent tasks that the cost breaker holds, by name: what calls of each may go at, of all tenants together. Absent where there are none",
              "additionalProperties": {
                "type": "object", "required": ["rpm"],
                "properties": {"rpm": {"type": "number", "minimum": 0, "description": "0: the kind is paused"}}
              }
            },
            "mean_output_tokens": {
              "type": "number", "minimum": 0,
              "description": "Tokens of a mean answer of the pool, for calls that set no bound. Absent before there was one"
            },
            "closed_after_seconds": {
              "type": "number", "minimum": 0,
              "description": "So long after the end of the lease calls go on, on the fallback, and are then refused. Absent: for as long as it takes"
            },
            "tasks": {
              "type": "object", "required": ["budgets", "held"],
              "description": "What agent tasks are held to. Absent where there is nothing",
              "properties": {
                "require_task": {"type": "boolean", "description": "Calls that name no task do not go"},
                "budgets": {
                  "type": "array", "maxItems": 1000,
                  "description": "The first that fits a task holds, counted over what passes through the gateway",
                  "items": {
                    "type": "object",
                    "properties": {
                      "tenant": {"type": "string"}, "task_kind": {"type": "string"}, "tier": {"type": "string"},
                      "calls": {"type": "integer"}, "iterations": {"type": "integer"}, "tokens": {"type": "integer"},
                      "fan_out": {"type": "integer"}, "seconds": {"type": "integer"}
                    },
                    "additionalProperties": false
                  }
                },
                "held": {
                  "type": "array", "maxItems": 1000,
                  "description": "Tasks that Headroom holds back by what it counts over all gateways, with those below them; also tasks that are only known to have begun, with nothing held",
                  "items": {
                    "type": "object", "required": ["tenant", "task", "held"],
                    "properties": {
                      "tenant": {"type": "string"}, "task": {"type": "string"},
                      "held": {"enum": ["nothing", "tools", "branches", "steps", "all"], "description": "With all tasks below it"},
                      "own": {"enum": ["tools", "branches", "steps", "all"], "description": "Its own calls only, where they are held back further"},
                      "exhausted": {"const": "cost", "description": "It is money that is used up"},
                      "full": {"type": "boolean", "description": "It may start no more tasks itself"},
                      "lifted": {"type": "boolean", "description": "Its own budget does not hold it just now"}
                    },
                    "additionalProperties": false
                  }
                }
              },
              "additionalProperties": false
            },
            "tenants": {
              "type": "object", "description": "By the tenant's name",
              "additionalProperties": {"$ref": "#/components/schemas/TenantAllocation"}
            },
            "unlisted": {
              "allOf": [{"$ref": "#/components/schemas/LimitRates"}],
              "description": "One bucket that all tenants without an entry share"
            }
          }
        },
        "TenantAllocation": {
          "description": "Its own rates are the assured ones; with unlisted they sum to at most the budget",
          "allOf": [{"$ref": "#/components/schemas/LimitRates"}],
          "required": [
            "ceiling", "safe", "burst", "weight", "service_clock", "tier", "constraint", "flags", "retry_offset_ms",
            "criticality"
          ],
          "properties": {
            "ceiling": {
              "allOf": [{"$ref": "#/components/schemas/LimitRates"}], "description": "How far lending may go"
            },
            "soft_ceiling": {
              "type": "boolean",
              "description": "What nobody else waits for may be lent beyond the ceiling, last of all and leaving the reserve; absent: false"
            },
            "quiet": {
              "type": "boolean",
              "description": "It asks for no more than its fair share: in a gateway that is alone its calls go before those of others, whatever their criticality; absent: false"
            },
            "plain": {
              "allOf": [{"$ref": "#/components/schemas/LimitRates"}],
              "description": "Only for a gateway that cannot lend and has a cap for the whole pool, set to budget; absent: use the assured rates"
            },
            "safe": {
              "allOf": [{"$ref": "#/components/schemas/LimitRates"}],
              "description": "The assured rates once the lease has run out"
            },
            "burst": {
              "description": "Assured besides, for the work of a task that is under way",
              "allOf": [{"$ref": "#/components/schemas/LimitRates"}], "required": ["seconds_left"],
              "properties": {"seconds_left": {"type": "number"}}
            },
            "weight": {"type": "number"},
            "service_clock": {
              "type": "number",
              "description": "Seconds of the pool's capacity served to the tenant, over all gateways, by its weight: lend to the least first"
            },
            "tier": {"type": "string"},
            "constraint": {
              "description": "What binds the assured rate",
              "enum": [
                "demand", "level", "floor", "ceiling", "slew", "observation_window", "deadband", "guardrail",
                "awaiting_room", "cold_start", "gaming_discount", "burst", "override", "mode", "frozen", "breaker",
                "cost_ceiling", "cost_breaker"
              ]
            },
            "flags": {"type": "array", "items": {"type": "string"}},
            "retry_offset_ms": {"type": "integer", "description": "Keeps the retries of tenants apart"},
            "criticality": {
              "type": "object", "required": ["interactive", "near_real_time", "batch"],
              "description": "The assured rates by how urgent the work is: an order of service, not a wall",
              "properties": {
                "interactive": {"$ref": "#/components/schemas/LimitRates"},
                "near_real_time": {"$ref": "#/components/schemas/LimitRates"},
                "batch": {"$ref": "#/components/schemas/LimitRates"}
              }
            }
          }
        }
        """#)
}
