extension OpenAPIDocument {
    static let overridePaths = encoded(
        #"""
        "/v1/overrides": {
          "get": {
            "summary": "Overrides in force (roles viewer, success, sre, admin)",
            "parameters": [{"$ref": "#/components/parameters/Tenant"}, {"$ref": "#/components/parameters/Pool"}],
            "responses": {
              "200": {
                "description": "Ascending by id",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Overrides"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          },
          "post": {
            "summary": "Another tier or weight for a while (roles success, sre, admin)",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/OverrideRequest"}}}
            },
            "responses": {
              "201": {
                "description": "In force at the next tick",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Override"}}}
              },
              "202": {
                "description": "It goes beyond what one person may set: a second one has to approve it",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ApprovalNeeded"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/overrides/{id}": {
          "delete": {
            "summary": "End an override: one's own (role success), any (roles sre, admin)",
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "responses": {
              "204": {"$ref": "#/components/responses/Done"},
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
        """#)

    static let proposalPaths: [UInt8] = Array(
        [
            proposals(
                "approvals", "Changes beyond guardrails and overrides beyond limits",
                states: ["pending", "approved", "denied", "expired"]),
            whole("approvals", "One approval with all of its changes"),
            decision(
                "approvals", "approve", "Approve a pending question, whole or for some tenants; not one's own",
                "Applied at the next tick; expires_in_seconds is how long it holds"),
            decision(
                "approvals", "deny", "Deny a pending question, whole or for some tenants; not one's own",
                "Not asked for again for expires_in_seconds"),
            proposals(
                "recommendations", "Changes in pools that do not move by themselves",
                states: ["pending", "applied", "dismissed", "expired"]),
            whole("recommendations", "One recommendation with all of its changes"),
            decision(
                "recommendations", "apply", "Apply a recommendation, whole or for some tenants",
                "Applied at the next tick"),
            decision(
                "recommendations", "dismiss", "Dismiss a recommendation",
                "Not recommended again for expires_in_seconds"),
        ].joined(separator: ",").utf8)

    private static func proposals(_ name: String, _ summary: String, states: [String]) -> String {
        #"""
        "/v1/\#(name)": {
          "get": {
            "summary": "\#(summary) (roles viewer, success, sre, admin)",
            "parameters": [
              {"name": "state", "in": "query",
               "schema": {"enum": [\#(states.map { "\"\($0)\"" }.joined(separator: ", "))]}},
              {"$ref": "#/components/parameters/Tenant"}, {"$ref": "#/components/parameters/Pool"}
            ],
            "responses": {
              "200": {
                "description": "Newest first, at most 500; of each the changes that are worth naming, the largest first",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "properties": {
                        "\#(name)": {"type": "array", "items": {"$ref": "#/components/schemas/Proposal"}}
                      }
                    }
                  }
                }
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
        """#
    }

    private static func whole(_ name: String, _ summary: String) -> String {
        #"""
        "/v1/\#(name)/{id}": {
          "get": {
            "summary": "\#(summary) (roles viewer, success, sre, admin)",
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "responses": {
              "200": {
                "description": "All of its changes, the largest first, at most 5,000",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Proposal"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
        """#
    }

    private static func decision(_ name: String, _ verb: String, _ summary: String, _ effect: String) -> String {
        #"""
        "/v1/\#(name)/{id}/\#(verb)": {
          "post": {
            "summary": "\#(summary) (roles sre, admin)",
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/DecisionRequest"}}}
            },
            "responses": {
              "200": {
                "description": "\#(effect)",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Proposal"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
        """#
    }

    static let steeringSchemas = encoded(
        #"""
        "Reason": {"type": "string", "minLength": 1, "maxLength": 500},
        "ExpiresInSeconds": {"type": "number", "minimum": 1, "maximum": 7776000},
        "Rates": {
          "type": "object",
          "description": "Per minute; absent is not limited, or not stated",
          "properties": {
            "rpm": {"type": "number"}, "tpm": {"type": "number"}, "itpm": {"type": "number"}, "otpm": {"type": "number"}
          }
        },
        "Authorship": {
          "type": "object",
          "properties": {
            "author": {"type": "string", "description": "The name of a token; headroom for automation"},
            "reason": {"type": "string"},
            "at": {"type": "string", "format": "date-time"},
            "until": {"type": "string", "format": "date-time"}
          }
        },
        "OverrideRequest": {
          "type": "object",
          "additionalProperties": false,
          "required": ["tenant", "reason", "expires_in_seconds"],
          "description": "With a tier, a weight, or both",
          "properties": {
            "tenant": {"$ref": "#/components/schemas/Identifier"},
            "pool": {"oneOf": [{"$ref": "#/components/schemas/Identifier"}, {"type": "null"}]},
            "tier": {"type": ["string", "null"]},
            "weight": {"type": ["number", "null"], "minimum": 0.001, "maximum": 1000},
            "reason": {"$ref": "#/components/schemas/Reason"},
            "expires_in_seconds": {"$ref": "#/components/schemas/ExpiresInSeconds"}
          }
        },
        "Override": {
          "allOf": [{"$ref": "#/components/schemas/Authorship"}],
          "type": "object",
          "properties": {
            "id": {"type": "integer"},
            "tenant": {"type": "string"},
            "pool": {"type": ["string", "null"], "description": "null: all pools"},
            "tier": {"type": ["string", "null"]},
            "weight": {"type": ["number", "null"]},
            "warnings": {
              "type": "array", "items": {"type": "string"},
              "description": "Only where it was set: a tenant that nobody knows yet, with the nearest name"
            }
          }
        },
        "Overrides": {
          "type": "object",
          "properties": {"overrides": {"type": "array", "items": {"$ref": "#/components/schemas/Override"}}}
        },
        "DecisionRequest": {
          "type": "object",
          "additionalProperties": false,
          "required": ["reason", "revision"],
          "properties": {
            "reason": {"$ref": "#/components/schemas/Reason"},
            "revision": {
              "type": "integer", "minimum": 1,
              "description": "That of the question as it was read. 409, which says what changed, when what is decided on has changed since, and when it is absent"
            },
            "expires_in_seconds": {
              "allOf": [{"$ref": "#/components/schemas/ExpiresInSeconds"}],
              "description": "By default what the policy's guardrails say, and an override's own length"
            },
            "tenants": {
              "type": "array", "items": {"$ref": "#/components/schemas/Identifier"}, "minItems": 1, "maxItems": 500,
              "description": "Tenants among the question's changes: they are decided on by themselves, under an id of their own, and the others keep waiting. Absent: all"
            }
          }
        },
        "ApprovalNeeded": {
          "type": "object",
          "properties": {
            "approval": {"$ref": "#/components/schemas/Proposal"},
            "reasons": {"type": "array", "items": {"type": "string"}},
            "warnings": {"type": "array", "items": {"type": "string"}}
          }
        },
        "Proposal": {
          "allOf": [{"$ref": "#/components/schemas/Authorship"}],
          "type": "object",
          "properties": {
            "id": {"type": "integer"},
            "kind": {"enum": ["guardrail", "override", "recommendation", "contracts"]},
            "revision": {"type": "integer", "description": "Counts from 1 each time that what is asked for changes"},
            "state": {"enum": ["pending", "approved", "denied", "expired", "applied", "dismissed"]},
            "tenant": {"type": "string", "description": "Whose override it is; * for a question about several tenants"},
            "pool": {"type": ["string", "null"]},
            "changes": {
              "type": "array", "items": {"$ref": "#/components/schemas/RateChange"},
              "description": "The rates that automation asks for, the largest change first. In lists those of at least the policy's guardrails.mover_share; empty for overrides and imports"
            },
            "change_count": {"type": "integer", "description": "All of them, listed or not"},
            "raised": {"type": "integer", "description": "Those that give a tenant more"},
            "lowered": {"type": "integer"},
            "evidence": {"type": "array", "items": {"type": "string"}},
            "effects": {
              "type": "array", "items": {"$ref": "#/components/schemas/RateChange"},
              "description": "What it does to other tenants of the pool, the largest first, as far as it is worth naming"
            },
            "override": {
              "type": ["object", "null"],
              "properties": {
                "tenant": {"type": "string"},
                "pool": {"type": ["string", "null"]},
                "tier": {"type": ["string", "null"]},
                "weight": {"type": ["number", "null"]},
                "seconds": {"type": "number", "description": "How long it holds, from the approval on"}
              }
            },
            "decision": {"oneOf": [{"$ref": "#/components/schemas/Authorship"}, {"type": "null"}]}
          }
        },
        "RateChange": {
          "type": "object",
          "properties": {
            "tenant": {"type": "string"},
            "from": {"$ref": "#/components/schemas/Rates"},
            "to": {"$ref": "#/components/schemas/Rates"}
          }
        },
        "CapacityRequest": {
          "type": "object",
          "additionalProperties": false,
          "required": ["capacity", "reason", "expires_in_seconds"],
          "properties": {
            "capacity": {"$ref": "#/components/schemas/Rates"},
            "reason": {"$ref": "#/components/schemas/Reason"},
            "expires_in_seconds": {"$ref": "#/components/schemas/ExpiresInSeconds"}
          }
        },
        "Pin": {
          "allOf": [{"$ref": "#/components/schemas/Authorship"}],
          "type": "object",
          "properties": {"pool": {"type": "string"}, "capacity": {"$ref": "#/components/schemas/Rates"}}
        },
        "FreezeRequest": {
          "type": "object",
          "additionalProperties": false,
          "required": ["reason", "expires_in_seconds"],
          "properties": {
            "pool": {"type": ["string", "null"], "description": "null: all pools"},
            "reason": {"$ref": "#/components/schemas/Reason"},
            "expires_in_seconds": {"$ref": "#/components/schemas/ExpiresInSeconds"}
          }
        },
        "RollbackRequest": {
          "type": "object",
          "additionalProperties": false,
          "required": ["generation", "reason", "expires_in_seconds"],
          "properties": {
            "generation": {"type": "integer", "minimum": 1},
            "pool": {"type": ["string", "null"], "description": "null: all pools"},
            "reason": {"$ref": "#/components/schemas/Reason"},
            "expires_in_seconds": {"$ref": "#/components/schemas/ExpiresInSeconds"}
          }
        },
        "Freeze": {
          "allOf": [{"$ref": "#/components/schemas/Authorship"}],
          "type": "object",
          "properties": {
            "id": {"type": "integer"},
            "pool": {"type": ["string", "null"]},
            "generation": {"type": ["integer", "null"], "description": "What was gone back to; null keeps what was in force"}
          }
        }
        """#)
}
