extension OpenAPIDocument {
    static let dashboardPaths = encoded(
        #"""
        "/": {
          "get": {
            "summary": "The dashboard; what it loads is below /dashboard/",
            "security": [],
            "responses": {"200": {"description": "A page", "content": {"text/html": {}}}}
          }
        },
        "/v1/session": {
          "get": {
            "summary": "Who the caller is, by token or cookie (any role, or none)",
            "security": [],
            "responses": {
              "200": {
                "description": "signed_in is false where the call bears no known token and no session",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Session"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          },
          "post": {
            "summary": "Sign a browser in: a cookie stands for the token (any role but gateway)",
            "description": "Takes the header Headroom-Request: dashboard, as every change does that a cookie gives access to.",
            "security": [],
            "requestBody": {
              "required": true,
              "content": {
                "application/json": {
                  "schema": {"type": "object", "required": ["token"], "properties": {"token": {"type": "string"}}}
                }
              }
            },
            "responses": {
              "201": {
                "description": "The cookie headroom_session is set, under TLS __Host-headroom_session: HttpOnly, SameSite=Strict",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Session"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          },
          "delete": {
            "summary": "Sign out (any role)",
            "responses": {
              "200": {
                "description": "The session has ended",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Session"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/live": {
          "get": {
            "summary": "How everything fares at the newest tick, as a long poll (roles viewer, success, sre, admin)",
            "parameters": [
              {"name": "after", "in": "query", "schema": {"type": "integer", "minimum": 0}, "description": "The tick that the caller has seen"},
              {"name": "wait", "in": "query", "schema": {"type": "integer", "minimum": 0, "maximum": 25}, "description": "Seconds to wait for a newer one"},
              {"name": "tenants", "in": "query", "schema": {"type": "integer", "minimum": 0, "maximum": 32}, "description": "The largest of each pool, 8 by default"},
              {"$ref": "#/components/parameters/Pool"}
            ],
            "responses": {
              "200": {
                "description": "The newest tick, and the events since the one that the caller has seen",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Live"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/live/series": {
          "get": {
            "summary": "The last minutes of one pool, tick by tick, as columns for plots (roles viewer, success, sre, admin)",
            "parameters": [
              {"name": "pool", "in": "query", "required": true, "schema": {"$ref": "#/components/schemas/Identifier"}},
              {"name": "tenants", "in": "query", "schema": {"type": "integer", "minimum": 0, "maximum": 32}, "description": "Columns of so many of the largest tenants"},
              {"name": "seconds", "in": "query", "schema": {"type": "integer", "minimum": 10, "maximum": 3600}, "description": "How far back; 900 by default"},
              {"name": "points", "in": "query", "schema": {"type": "integer", "minimum": 10, "maximum": 1000}, "description": "At most so many samples, 300 by default"},
              {"$ref": "#/components/parameters/Tenant"}
            ],
            "responses": {
              "200": {
                "description": "Lists of the same length, oldest first, null where a sample does not say",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/LiveSeries"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/policy/files": {
          "get": {
            "summary": "The policy's files as they are written (roles sre, admin)",
            "responses": {
              "200": {
                "description": "Texts by path in the policy directory",
                "content": {"application/json": {"schema": {
                  "type": "object", "required": ["files"],
                  "properties": {"files": {"type": "object", "additionalProperties": {"type": "string"}}}
                }}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/plan": {
          "post": {
            "summary": "What another policy, or other contracts, would have done in the last hours; nothing is set (roles success, sre, admin)",
            "description": "Telemetry that is kept is replayed twice through the four actors: under the rules in force, and under those of the body. One replay runs at a time, for a minute at most; what takes longer is answered with 503.",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {
                "type": "object", "required": ["hours"],
                "properties": {
                  "hours": {"type": "number", "minimum": 0.1, "maximum": 24},
                  "files": {"type": "object", "additionalProperties": {"type": "string"}, "description": "The whole policy; without it that in force"},
                  "contracts": {"type": "string", "description": "JSON as an import takes it: of tenants whose contract would be another"}
                }
              }}}
            },
            "responses": {
              "200": {
                "description": "As headroom plan --json tells it, the tenants that change most first",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PlanAnswer"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/tenants/{id}/share": {
          "post": {
            "summary": "A link by which its holder sees one tenant and nothing else (roles success, sre, admin)",
            "description": "A viewer's token that is limited to the tenant, and to the pools of the caller where those are limited. It ends with the caller's own token at the latest, and headroom token revoke NAME ends it early. 409 beyond 100 links of one person, or 1,000 in all.",
            "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"$ref": "#/components/schemas/Identifier"}}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {
                "type": "object", "required": ["expires_in_seconds"],
                "properties": {"expires_in_seconds": {"type": "number", "minimum": 3600, "maximum": 7776000}}
              }}}
            },
            "responses": {
              "201": {
                "description": "The secret stands behind the #, which browsers do not send",
                "content": {"application/json": {"schema": {
                  "type": "object", "required": ["name", "path", "until"],
                  "properties": {
                    "name": {"type": "string"}, "path": {"type": "string"}, "until": {"type": "string", "format": "date-time"}
                  }
                }}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/overrides/preview": {
          "post": {
            "summary": "What an override would do, with what everybody asks for now; nothing is stored (roles success, sre, admin)",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/OverrideRequest"}}}
            },
            "responses": {
              "200": {
                "description": "Per pool the tenants that would be assured more or less, the largest change first",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "properties": {
                        "reasons": {"type": "array", "items": {"type": "string"}, "description": "Why a second person would have to agree"},
                        "pools": {
                          "type": "array",
                          "items": {
                            "type": "object",
                            "properties": {
                              "pool": {"type": "string"}, "resource": {"type": "string"},
                              "changed": {"type": "integer", "description": "All that change; at most 200 are listed"},
                              "unmoved": {"type": ["string", "null"], "description": "Why the tenant itself would be assured no more and no less; null when it would"},
                              "effects": {
                                "type": "array",
                                "items": {
                                  "type": "object",
                                  "properties": {
                                    "tenant": {"type": "string"},
                                    "from": {"$ref": "#/components/schemas/Rates"},
                                    "to": {"$ref": "#/components/schemas/Rates"}
                                  }
                                }
                              }
                            }
                          }
                        }
                      }
                    }
                  }
                }
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
        """#)

    static let dashboardSchemas = encoded(
        #"""
        "PlanAnswer": {
          "type": "object",
          "required": ["from", "step_seconds", "stretches", "tiers", "tenant_count", "tenants", "questions"],
          "properties": {
            "from": {"type": "string", "format": "date-time"},
            "step_seconds": {"type": "number"},
            "stretches": {"type": "array", "items": {"type": "object", "properties": {
              "from": {"type": "string"}, "to": {"type": "string"},
              "by_minute": {"type": "boolean", "description": "Lines are kept no longer; sums by minute stand in for them"}
            }}},
            "tiers": {"type": "array", "items": {"type": "object", "properties": {
              "pool": {"type": "string"}, "tier": {"type": "string"}, "tenants": {"type": "integer"},
              "asked": {"$ref": "#/components/schemas/Rates"},
              "served_before": {"$ref": "#/components/schemas/Rates"}, "served_after": {"$ref": "#/components/schemas/Rates"}
            }}},
            "tenant_count": {"type": "integer"},
            "tenants": {"type": "array", "items": {"type": "object", "description": "Means over the replay; the first ones with their course, one number a step", "properties": {
              "tenant": {"type": "string"}, "pool": {"type": "string"}, "tier": {"type": "string"},
              "asked": {"$ref": "#/components/schemas/Rates"},
              "assured_before": {"$ref": "#/components/schemas/Rates"}, "assured_after": {"$ref": "#/components/schemas/Rates"},
              "served_before": {"$ref": "#/components/schemas/Rates"}, "served_after": {"$ref": "#/components/schemas/Rates"},
              "asked_series": {"type": "array", "items": {"type": "integer"}},
              "assured_before_series": {"type": "array", "items": {"type": "integer"}},
              "assured_after_series": {"type": "array", "items": {"type": "integer"}}
            }}},
            "questions": {"type": "array", "items": {"type": "object"}, "description": "What the candidate would have asked people"}
          }
        },
        "Session": {
          "type": "object",
          "properties": {
            "signed_in": {"type": "boolean"},
            "name": {"type": ["string", "null"]},
            "role": {"type": ["string", "null"]},
            "open": {"type": "boolean", "description": "There are no tokens: everybody on this machine may do everything"},
            "until": {"type": ["string", "null"], "format": "date-time"},
            "pools": {"type": ["array", "null"], "items": {"type": "string"}, "description": "Null: all"},
            "tenants": {"type": ["array", "null"], "items": {"type": "string"}, "description": "Null: all"},
            "demo": {"type": "boolean"}
          }
        },
        "LiveTenant": {
          "type": "object",
          "description": "Amounts of the pool's resource",
          "properties": {
            "tenant": {"type": "string"}, "tier": {"type": "string"},
            "asked": {"type": ["number", "null"]}, "assured": {"type": ["number", "null"]},
            "consumed": {"type": ["number", "null"]},
            "waiting": {"type": "integer"}, "oldest_seconds": {"type": ["number", "null"]},
            "underserved_seconds": {"type": ["number", "null"]},
            "starvation": {"type": ["string", "null"]}
          }
        },
        "Live": {
          "type": "object",
          "properties": {
            "tick": {"type": "integer", "description": "Counts up from 1 at the start of the service"},
            "at": {"type": ["string", "null"], "format": "date-time"},
            "period_seconds": {"type": ["number", "null"]},
            "epoch": {"type": ["integer", "null"]}, "generation": {"type": ["integer", "null"]},
            "published_at": {"type": ["string", "null"], "format": "date-time"},
            "faults": {"type": "array", "items": {"type": "string"}},
            "gateways": {
              "type": "object",
              "properties": {
                "count": {"type": "integer"}, "behind": {"type": "integer"}, "worst_seconds": {"type": "number"}
              }
            },
            "pools": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "pool": {"type": "string"}, "state": {"type": "string"}, "capacity_reason": {"type": "string"},
                  "confidence": {"type": "number"},
                  "resource": {"type": "string", "description": "The one in which tenants are counted here"},
                  "nominal": {"$ref": "#/components/schemas/Rates"}, "capacity": {"$ref": "#/components/schemas/Rates"},
                  "budget": {"$ref": "#/components/schemas/Rates"}, "assured": {"$ref": "#/components/schemas/Rates"},
                  "asked": {"$ref": "#/components/schemas/Rates"}, "consumed": {"$ref": "#/components/schemas/Rates"},
                  "waiting": {"type": "integer"}, "oldest_seconds": {"type": "number"},
                  "refused_share": {"type": "number"}, "p95_ms": {"type": ["number", "null"]},
                  "outcomes": {"type": "object", "additionalProperties": {"type": "integer"}, "description": "Calls of the last minute by outcome, without those that are 0"},
                  "models": {"type": "object", "additionalProperties": {"type": "integer"}, "description": "Attempts of the last minute, of the eight most used"},
                  "floors": {"type": "number", "description": "What the contracts guarantee, of the resource; this and what follows up to gateways is left out for who may see some tenants only"},
                  "lent": {"type": "number", "description": "Used above assured rates"},
                  "unused": {"type": "number", "description": "Assured and left unused"},
                  "float": {"type": "number"},
                  "draws_granted": {"type": ["number", "null"], "description": "A minute; null where nobody draws"},
                  "draws_empty": {"type": ["number", "null"]}, "draws_refused": {"type": ["number", "null"]},
                  "gateways": {"type": "object", "additionalProperties": {"type": "number"}, "description": "Budgets of the eight gateways that have most"},
                  "open_questions": {"type": "integer"}, "tenants": {"type": "integer"}, "starved": {"type": "integer"},
                  "tiers": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "properties": {
                        "tier": {"type": "string"}, "tenants": {"type": "integer"}, "starved": {"type": "integer"},
                        "waiting": {"type": "integer"},
                        "asked": {"$ref": "#/components/schemas/Rates"},
                        "assured": {"$ref": "#/components/schemas/Rates"},
                        "consumed": {"$ref": "#/components/schemas/Rates"}
                      }
                    }
                  },
                  "short": {
                    "type": "array", "items": {"$ref": "#/components/schemas/LiveTenant"},
                    "description": "Those that are short or starved, starved ones first; at most 32"
                  },
                  "top": {
                    "type": "array", "items": {"$ref": "#/components/schemas/LiveTenant"},
                    "description": "Largest demand first"
                  }
                }
              }
            },
            "events": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "at": {"type": "string", "format": "date-time"},
                  "kind": {
                    "type": "string",
                    "enum": ["start", "state", "capacity", "policy", "model", "starved", "recovered", "retry_storm"]
                  },
                  "pool": {"type": ["string", "null"]}, "tenant": {"type": ["string", "null"]},
                  "text": {"type": "string"}
                }
              }
            }
          }
        },
        "LiveSeries": {
          "type": "object",
          "properties": {
            "pool": {"type": "string"},
            "at": {"type": "array", "items": {"type": "integer"}, "description": "Milliseconds since 1970"},
            "resource": {"type": ["string", "null"]},
            "resources": {
              "type": "object",
              "description": "By resource, as tpm: nominal, capacity, budget, assured, demand, consumed",
              "additionalProperties": {"type": "object"}
            },
            "waiting": {"type": "array", "items": {"type": ["number", "null"]}},
            "oldest_seconds": {"type": "array", "items": {"type": ["number", "null"]}},
            "refused_share": {"type": "array", "items": {"type": ["number", "null"]}},
            "p95_ms": {"type": "array", "items": {"type": ["number", "null"]}},
            "outcomes": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": ["number", "null"]}}, "description": "Calls of the last minute by outcome, without those that are 0 throughout"},
            "models": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": ["number", "null"]}}, "description": "Attempts of the last minute"},
            "starved": {"type": "array", "items": {"type": ["number", "null"]}},
            "floors": {"type": "array", "items": {"type": ["number", "null"]}},
            "lent": {"type": "array", "items": {"type": ["number", "null"]}},
            "unused": {"type": "array", "items": {"type": ["number", "null"]}},
            "float": {"type": "array", "items": {"type": ["number", "null"]}},
            "draws_granted": {"type": "array", "items": {"type": ["number", "null"]}},
            "draws_empty": {"type": "array", "items": {"type": ["number", "null"]}},
            "draws_refused": {"type": "array", "items": {"type": ["number", "null"]}},
            "gateways": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": ["number", "null"]}}, "description": "Budgets of the gateways that have most"},
            "tenants": {
              "type": "object", "description": "By tenant: demand, assured, consumed of the resource; with tenant in the query also oldest_seconds and credit",
              "additionalProperties": {"type": "object"}
            }
          }
        }
        """#)
}
