extension OpenAPIDocument {
    static let reportSchemas = encoded(
        #"""
        "PoolStatus": {
          "type": "object",
          "properties": {
            "pool": {"type": "string"},
            "state": {"enum": ["healthy", "pressured", "throttled", "open", "half_open"]},
            "mode": {"enum": ["observe", "recommend", "guarded", "full", null]},
            "enforce": {"type": ["boolean", "null"]},
            "level": {"type": ["number", "null"]},
            "float": {"$ref": "#/components/schemas/Rates"},
            "models": {"type": "object", "additionalProperties": {"type": "string"}},
            "failover": {"type": "array", "items": {"type": "string"}},
            "capacity_reason": {
              "enum": ["contract", "headers", "throttled", "probing", "latency", "overload", "manual"]
            },
            "confidence": {"type": "number"},
            "nominal": {"$ref": "#/components/schemas/Rates"},
            "capacity": {"$ref": "#/components/schemas/Rates"},
            "budget": {"$ref": "#/components/schemas/Rates"},
            "assured": {"$ref": "#/components/schemas/Rates"},
            "consumed": {"$ref": "#/components/schemas/Rates"},
            "calls": {"type": "object", "additionalProperties": {"type": "integer"}},
            "queue": {
              "type": "object",
              "properties": {"depth": {"type": "integer"}, "oldest_seconds": {"type": "number"}}
            },
            "overcommitted_tokens": {"type": "number"},
            "reversals": {"type": "integer", "description": "How often assured rates turned back, since the start"},
            "gateways": {
              "type": "object",
              "description": "Gateways that work from the pool: those that draw, and those that had work in the last ten minutes and do not draw. Beyond 4 of the latter /readyz warns",
              "properties": {"drawing": {"type": "integer"}, "lending": {"type": "integer"}}
            },
            "tenants": {"type": "integer"},
            "starved_tenants": {
              "type": "object",
              "properties": {"delivery": {"type": "integer"}, "shortage": {"type": "integer"}}
            },
            "excess": {
              "type": "array",
              "description": "The largest parts of what tenants want above what they are assured: who causes what",
              "items": {
                "type": "object", "properties": {"tenant": {"type": "string"}, "share": {"type": "number"}}
              }
            },
            "retry_storm": {"type": ["object", "null"]},
            "upstream": {
              "description": "The last minute, in sum and by model and endpoint",
              "allOf": [{"$ref": "#/components/schemas/UpstreamSignals"}],
              "properties": {
                "other_consumers": {
                  "allOf": [{"$ref": "#/components/schemas/Rates"}],
                  "description": "Use of the provider's account that no gateway here reports"
                },
                "long_windows": {
                  "type": "array",
                  "description": "Limits of the provider over more than a minute",
                  "items": {
                    "type": "object",
                    "properties": {
                      "resource": {"enum": ["requests", "tokens", "input_tokens", "output_tokens"]},
                      "window_seconds": {"type": ["number", "null"]},
                      "remaining": {"type": ["number", "null"]},
                      "resets_at": {"type": ["string", "null"], "format": "date-time"}
                    }
                  }
                },
                "braked": {
                  "type": "boolean", "description": "Held down because the provider counts refused calls against the limit"
                },
                "growth": {"type": ["number", "null"], "description": "Part of the usual slew limit with which rates may rise: below 1 after the provider refused fast growth"},
                "billing_failure_since": {
                  "type": ["string", "null"], "format": "date-time",
                  "description": "The provider refuses calls for want of money since then"
                },
                "channels": {
                  "type": "array",
                  "items": {
                    "allOf": [{"$ref": "#/components/schemas/UpstreamSignals"}],
                    "properties": {
                      "model": {"type": ["string", "null"]},
                      "endpoint": {"type": ["string", "null"]},
                      "version": {"type": ["string", "null"], "description": "As it was reported"},
                      "changed_at": {
                        "type": ["string", "null"], "format": "date-time",
                        "description": "When another version was reported, or noticed by its name; null before"
                      },
                      "state": {"type": "string", "description": "Of the model's breaker"}
                    }
                  }
                }
              }
            },
            "pin": {"oneOf": [{"$ref": "#/components/schemas/Pin"}, {"type": "null"}]},
            "freezes": {"type": "array", "items": {"$ref": "#/components/schemas/Freeze"}},
            "open_questions": {"type": "integer", "description": "Approvals and recommendations of the pool that wait for a person"}
          }
        },
        "UpstreamSignals": {
          "type": "object",
          "properties": {
            "attempts": {"type": "integer"},
            "outcomes": {"type": "object", "additionalProperties": {"type": "integer"}},
            "quota_share": {"type": ["number", "null"], "description": "The rate of 429s; null without attempts"},
            "served_tokens": {"type": ["number", "null"]},
            "latency_ms": {
              "type": ["object", "null"],
              "properties": {
                "p50": {"type": ["number", "null"]}, "p95": {"type": ["number", "null"]},
                "p99": {"type": ["number", "null"]}, "baseline_p95": {"type": ["number", "null"]}
              }
            }
          }
        },
        "ContractImport": {
          "type": "object",
          "required": ["contracts", "terms", "dry_run", "added", "changed", "removed", "unchanged"],
          "properties": {
            "contracts": {"type": "integer"},
            "terms": {"type": "integer", "description": "Tenant × pool"},
            "dry_run": {"type": "boolean", "description": "Nothing was changed"},
            "added": {"$ref": "#/components/schemas/SomeTenants"},
            "changed": {"$ref": "#/components/schemas/SomeTenants"},
            "removed": {"$ref": "#/components/schemas/SomeTenants"},
            "unchanged": {"type": "integer"}
          }
        },
        "SomeTenants": {
          "type": "object",
          "required": ["count", "first"],
          "properties": {
            "count": {"type": "integer"},
            "first": {"type": "array", "maxItems": 20, "items": {"$ref": "#/components/schemas/Identifier"}}
          }
        },
        "Contract": {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "tenant": {"$ref": "#/components/schemas/Identifier"},
            "tier": {"type": ["string", "null"], "description": "null: the policy's default tier"},
            "strategic": {"type": "boolean"},
            "pools": {
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["pool"],
                "properties": {
                  "pool": {"$ref": "#/components/schemas/Identifier"},
                  "floor": {"$ref": "#/components/schemas/Rates"},
                  "ceiling": {"$ref": "#/components/schemas/Rates"}
                }
              }
            },
            "task_budgets": {
              "type": "array", "maxItems": 16,
              "description": "What the tenant's agent tasks may use: the first that fits holds, before the policy's",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                  "task_kind": {"type": ["string", "null"], "minLength": 1, "maxLength": 200},
                  "calls": {"type": "integer", "minimum": 1, "maximum": 1000000000},
                  "iterations": {"type": "integer", "minimum": 1, "maximum": 1000000000},
                  "tokens": {"type": "integer", "minimum": 1, "maximum": 1000000000000},
                  "micros": {"type": "integer", "minimum": 1, "maximum": 1000000000000},
                  "fan_out": {"type": "integer", "minimum": 0, "maximum": 1000000},
                  "seconds": {"type": "integer", "minimum": 1, "maximum": 31536000}
                }
              }
            },
            "cost": {
              "type": ["object", "null"],
              "description": "What use costs, and the most it may cost. Money is in whole millionths of the currency's unit",
              "additionalProperties": false,
              "required": ["currency", "period", "most_micros", "prices"],
              "properties": {
                "currency": {"type": "string", "description": "ISO 4217"},
                "period": {"enum": ["day", "month"], "description": "In UTC"},
                "most_micros": {"type": "integer", "minimum": 0, "maximum": 100000000000000},
                "prices": {
                  "type": "array",
                  "minItems": 1,
                  "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                      "pool": {"type": ["string", "null"], "description": "null: every pool without a price of its own"},
                      "input_micros_per_million": {"type": "integer", "minimum": 0, "maximum": 100000000000000},
                      "cached_input_micros_per_million": {"type": "integer", "minimum": 0, "maximum": 100000000000000, "description": "Absent: what input costs"},
                      "output_micros_per_million": {"type": "integer", "minimum": 0, "maximum": 100000000000000},
                      "request_micros": {"type": "integer", "minimum": 0, "maximum": 100000000000000}
                    }
                  }
                }
              }
            }
          }
        },
        "TenantStatus": {
          "type": "object",
          "properties": {
            "tenant": {"type": "string"},
            "contract": {"type": ["object", "null"]},
            "pools": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "pool": {"type": "string"},
                  "tier": {"type": "string"},
                  "weight": {"type": ["number", "null"]},
                  "constraint": {"type": ["string", "null"]},
                  "asked": {"$ref": "#/components/schemas/Rates", "description": "Asked for in the demand window (20 s by default), each piece of work once"},
                  "demand": {"$ref": "#/components/schemas/Rates", "description": "Planned: more than is asked for while work waits"},
                  "assured": {"$ref": "#/components/schemas/Rates"},
                  "consumed": {"$ref": "#/components/schemas/Rates"},
                  "ceiling": {"$ref": "#/components/schemas/Rates"},
                  "floor": {"$ref": "#/components/schemas/Rates", "description": "The contract's guarantee; empty without one"},
                  "burst": {"$ref": "#/components/schemas/Rates", "description": "Part of assured that credit pays for"},
                  "quiet": {"type": "boolean", "description": "It asks for no more than its fair share: all that it asks for is its own"},
                  "credit": {"type": "integer", "description": "Burst credit, in tokens, or in requests in a pool that limits no tokens"},
                  "flags": {"type": "array", "items": {"type": "string"}},
                  "queue": {"type": "object", "description": "By criticality: depth, oldest_seconds, retries"},
                  "underserved_seconds": {"type": "number"},
                  "starvation": {"enum": ["delivery", "shortage", null]},
                  "profile": {"type": ["object", "null"], "description": "How it behaves, and how far it is believed"}
                }
              }
            }
          }
        },
        "Explanation": {
          "type": "object",
          "properties": {
            "sentences": {
              "type": "array", "items": {"type": "string"},
              "description": "The same as a person would tell it; the last ones say who causes the pool's pressure now"
            },
            "epoch": {"type": "integer"},
            "generation": {"type": "integer", "description": "The one that set the number"},
            "at": {"type": "string", "format": "date-time"},
            "pool": {"type": "object", "description": "What all tenants of the pool have in common"},
            "tenant": {
              "type": "object", "description": "From demand to what is assured, and what binds it",
              "properties": {
                "flags": {
                  "type": "array", "description": "Which of its claims are doubted, and why",
                  "items": {
                    "type": "object",
                    "properties": {
                      "kind": {"type": "string"}, "since": {"type": "string", "format": "date-time"},
                      "evidence": {"type": "string"}
                    }
                  }
                }
              }
            }
          }
        },
        "Period": {
          "type": "object",
          "required": ["pool", "tenant", "from", "to", "sentences", "all", "capacity", "outages"],
          "properties": {
            "pool": {"type": "string"},
            "tenant": {"type": ["string", "null"]},
            "from": {"type": "string", "format": "date-time"},
            "to": {"type": "string", "format": "date-time"},
            "sentences": {"type": "array", "items": {"type": "string"}, "description": "For the person on duty"},
            "for_tenant": {
              "type": "array", "items": {"type": "string"},
              "description": "To be sent as it is: it names nobody else. Where a tenant was asked for"
            },
            "own": {"type": "object", "description": "Sums of the tenant, as in a step of History"},
            "all": {"type": "object", "description": "Sums of the pool, as in a step of History"},
            "capacity": {"type": "object", "description": "Mean rates: nominal, estimated"},
            "outages": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "from": {"type": "string", "format": "date-time"}, "to": {"type": "string", "format": "date-time"},
                  "attempts": {"type": "integer"}, "failures": {"type": "integer"}
                }
              }
            }
          }
        },
        "Costs": {
          "type": "object",
          "required": ["from", "to", "by", "costs", "totals", "provider_totals", "projected_until"],
          "properties": {
            "from": {"type": "string", "format": "date-time"},
            "to": {"type": "string", "format": "date-time"},
            "by": {"enum": ["tenant", "pool", "model", "criticality", "task-kind"]},
            "costs": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "key": {"type": ["string", "null"], "description": "The tenant, the pool, the model, the criticality or the kind of task; null: the use was reported without one"},
                  "currency": {"type": ["string", "null"], "description": "null: the use has no price"},
                  "cost_micros": {"type": ["integer", "null"], "description": "At the price of the tenant's contract, or else the provider's"},
                  "provider_currency": {"type": ["string", "null"], "description": "null: the pool has no price for it"},
                  "provider_micros": {"type": ["integer", "null"], "description": "At the pool's price: the provider's bill"},
                  "requests": {"type": "integer"}, "input_tokens": {"type": "integer"},
                  "cached_input_tokens": {"type": "integer", "description": "Among input_tokens"},
                  "output_tokens": {"type": "integer"},
                  "saved_requests": {"type": "integer", "description": "Answered from gateways' own caches in place of calls; not among requests"},
                  "saved_micros": {"type": ["integer", "null"], "description": "What those would have cost, in currency; not among cost_micros"}
                }
              }
            },
            "saved_totals": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {"currency": {"type": "string"}, "saved_micros": {"type": "integer"}}
              }
            },
            "totals": {"$ref": "#/components/schemas/CostTotals"},
            "provider_totals": {"$ref": "#/components/schemas/CostTotals"},
            "projected_until": {"type": ["string", "null"], "format": "date-time", "description": "The end of the month that is asked for from its start and goes on; null for any other time"}
          }
        },
        "CostTotals": {
          "type": "array",
          "items": {
            "type": "object",
            "properties": {
              "currency": {"type": "string"}, "cost_micros": {"type": "integer"},
              "projected_micros": {"type": ["integer", "null"], "description": "At projected_until, if the spending of the last 24 hours goes on"}
            }
          }
        },
        "Generations": {
          "type": "object",
          "required": ["generations", "next"],
          "properties": {
            "generations": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "epoch": {"type": "integer"}, "generation": {"type": "integer"},
                  "issued_at": {"type": "string", "format": "date-time"},
                  "pools": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "properties": {"pool": {"type": "string"}, "tenants": {"type": "integer"}}
                    }
                  }
                }
              }
            },
            "next": {"type": ["string", "null"]}
          }
        },
        "GenerationDifference": {
          "type": "object",
          "required": ["from", "to", "pools"],
          "properties": {
            "from": {"type": "object"}, "to": {"type": "object"},
            "pools": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "pool": {"type": "string"},
                  "before": {"type": ["object", "null"]}, "after": {"type": ["object", "null"]},
                  "tenants_changed": {"type": "integer"},
                  "tenants": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "properties": {
                        "tenant": {"type": "string"},
                        "before": {"type": ["object", "null"]}, "after": {"type": ["object", "null"]}
                      }
                    }
                  }
                }
              }
            }
          }
        },
        "History": {
          "type": "object",
          "required": ["pool", "tenant", "from", "to", "step_seconds", "series", "events", "acts", "next"],
          "properties": {
            "pool": {"type": "string"},
            "tenant": {"type": ["string", "null"]},
            "from": {"type": "string", "format": "date-time"},
            "to": {"type": "string", "format": "date-time"},
            "step_seconds": {"type": "integer"},
            "series": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "start": {"type": "string", "format": "date-time"},
                  "ok": {"type": "integer"}, "quota": {"type": "integer"}, "overload": {"type": "integer"},
                  "error": {"type": "integer", "description": "All other failures, ramp and billing among them"},
                  "ramp": {"type": "integer"}, "billing": {"type": "integer"},
                  "retries": {"type": "integer"}, "denied": {"type": "integer"},
                  "denied_tokens": {"type": "integer"}, "input_tokens": {"type": "integer"},
                  "cached_input_tokens": {"type": "integer", "description": "Among input_tokens"},
                  "output_tokens": {"type": "integer"}, "counted_tokens": {"type": "integer"},
                  "waits": {"type": "integer", "description": "Served calls that said how long they had waited"},
                  "waited_seconds": {"type": "number", "description": "Of these calls, in all"},
                  "active_seconds": {"type": "number", "description": "In which a tenant wanted something"},
                  "asked_requests": {"type": "integer", "description":
                    "What arrived, each piece of work once: served + given up or refused for good + waiting now − waiting before. May be below 0 in a minute"},
                  "asked_tokens": {"type": "integer"}, "asked_input_tokens": {"type": "integer"},
                  "asked_output_tokens": {"type": "integer"},
                  "assured_tokens": {"type": "number"}, "assured_requests": {"type": "number"},
                  "starved_delivery_seconds": {"type": "number"}, "starved_shortage_seconds": {"type": "number"},
                  "oldest_queued_seconds": {"type": "number"},
                  "ceiling": {"$ref": "#/components/schemas/Rates", "description": "A tenant's, while it wanted something"},
                  "observed_seconds": {"type": "number", "description": "A pool's: in which its capacity was looked at"},
                  "capacity": {
                    "type": "object", "description": "A pool's: mean rates of the observed seconds",
                    "properties": {
                      "nominal": {"$ref": "#/components/schemas/Rates"},
                      "estimated": {"$ref": "#/components/schemas/Rates"},
                      "budget": {"$ref": "#/components/schemas/Rates"}
                    }
                  },
                  "queue_depth": {"type": "integer", "description": "A pool's: the most calls that waited at once"}
                }
              }
            },
            "top": {
              "type": "array", "description": "Descending by counted tokens; where top was asked for",
              "items": {
                "type": "object",
                "properties": {
                  "tenant": {"type": "string"}, "series": {"$ref": "#/components/schemas/ShareSeries"}
                }
              }
            },
            "rest": {
              "type": "object", "description": "All tenants that are not in top",
              "properties": {
                "tenants": {"type": "integer"}, "series": {"$ref": "#/components/schemas/ShareSeries"}
              }
            },
            "events": {
              "type": "array", "description": "Ascending by time, the newest 500",
              "items": {
                "type": "object",
                "properties": {
                  "at": {"type": "string", "format": "date-time"},
                  "kind": {"enum": ["start", "policy", "capacity", "state", "model", "billing"]},
                  "pool": {"type": ["string", "null"]},
                  "subject": {"type": ["string", "null"], "description": "The rate, or the model"},
                  "before": {"type": ["string", "null"]}, "after": {"type": ["string", "null"]}
                }
              }
            },
            "acts": {
              "type": "array", "description": "What people did, from the audit log; ascending by time, the newest 500",
              "items": {
                "type": "object",
                "properties": {
                  "sequence": {"type": "integer"}, "at": {"type": "string", "format": "date-time"},
                  "author": {"type": "string"}, "action": {"type": "string"},
                  "tenant": {"type": ["string", "null"]}, "pool": {"type": ["string", "null"]},
                  "reason": {"type": ["string", "null"]}
                }
              }
            },
            "next": {"type": ["string", "null"], "description": "from of the rest, where it did not fit"}
          }
        },
        "ShareSeries": {
          "type": "array",
          "items": {
            "type": "object",
            "properties": {
              "start": {"type": "string", "format": "date-time"},
              "ok": {"type": "integer"}, "quota": {"type": "integer"}, "denied": {"type": "integer"},
              "counted_tokens": {"type": "integer"}, "asked_requests": {"type": "integer"}, "asked_tokens": {"type": "integer"},
              "assured_tokens": {"type": "number"}, "oldest_queued_seconds": {"type": "number"}
            }
          }
        }
        """#)
}
