extension OpenAPIDocument {
    static let levelPaths = encoded(
        #"""
        "/v1/slos": {
          "get": {
            "summary": "Service levels: attainment and burn of tenants, tiers and Headroom itself (roles viewer, success, sre, admin)",
            "parameters": [
              {"$ref": "#/components/parameters/Tenant"}, {"$ref": "#/components/parameters/Pool"},
              {"name": "tier", "in": "query", "description": "Only tenants that are in this tier now", "schema": {"type": "string"}},
              {"name": "limit", "in": "query", "description": "Tenants that are listed; the tiers' sums are of all",
               "schema": {"type": "integer", "minimum": 0, "maximum": 10000, "default": 200}}
            ],
            "responses": {
              "200": {
                "description": "As of the last roll-up, a minute ago at most. A tenant is satisfied while it gets what it is due and no call of it waits for longer than its tier's should",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ServiceLevels"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/starvation": {
          "get": {
            "summary": "Who was starved, when and why (roles viewer, success, sre, admin)",
            "parameters": [
              {"name": "from", "in": "query", "schema": {"type": "string"},
               "description": "RFC 3339 or milliseconds since 1970; by default 30 days before to"},
              {"name": "to", "in": "query", "schema": {"type": "string"}, "description": "Now by default"},
              {"$ref": "#/components/parameters/Tenant"}, {"$ref": "#/components/parameters/Pool"}
            ],
            "responses": {
              "200": {
                "description": "The longest starved first, each from its first underserved minute on, up to the last tick",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/StarvationReport"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
        """#)

    static let levelSchemas = encoded(
        #"""
        "ServiceLevels": {
          "type": "object",
          "required": ["at", "tiers", "tenant_count", "tenants", "task_tiers", "task_tenants", "service"],
          "properties": {
            "at": {"type": "string", "format": "date-time"},
            "tiers": {
              "type": "array",
              "description": "In the policy's order; of the tenants that the token may see",
              "items": {
                "type": "object",
                "required": ["tier", "longest_wait_seconds", "objective", "tenants", "windows"],
                "properties": {
                  "tier": {"type": "string"},
                  "longest_wait_seconds": {"type": "number"},
                  "objective": {"type": "number", "description": "The part of the time in which a tenant wants something that it must be satisfied"},
                  "tenants": {"type": "integer", "description": "Tenants × pools"},
                  "windows": {"$ref": "#/components/schemas/LevelWindows"}
                }
              }
            },
            "tenant_count": {"type": "integer", "description": "Tenants × pools, also those that are not listed"},
            "tenants": {
              "type": "array",
              "description": "Those that burn fastest over the last hour or day first",
              "items": {
                "type": "object",
                "required": ["tenant", "pool", "tier", "longest_wait_seconds", "objective", "windows"],
                "properties": {
                  "tenant": {"type": "string"},
                  "pool": {"type": "string"},
                  "tier": {"type": "string"},
                  "longest_wait_seconds": {"type": "number"},
                  "objective": {"type": "number"},
                  "windows": {"$ref": "#/components/schemas/LevelWindows"}
                }
              }
            },
            "task_tiers": {
              "type": "array",
              "description": "Agent tasks of the tiers for which the policy says how long they may take",
              "items": {
                "type": "object",
                "required": ["tier", "task_seconds", "objective", "tenants", "windows"],
                "properties": {
                  "tier": {"type": "string"},
                  "task_seconds": {"type": "number", "description": "Within which a task should end"},
                  "objective": {"type": "number", "description": "The part of the tasks that must"},
                  "tenants": {"type": "integer"},
                  "windows": {"$ref": "#/components/schemas/TaskLevelWindows"}
                }
              }
            },
            "task_tenants": {
              "type": "array",
              "description": "Those that burn fastest over the last hour or day first; of tokens without a limit on pools",
              "items": {
                "type": "object",
                "required": ["tenant", "tier", "task_seconds", "objective", "windows"],
                "properties": {
                  "tenant": {"type": "string"},
                  "tier": {"type": "string"},
                  "task_seconds": {"type": "number"},
                  "objective": {"type": "number"},
                  "windows": {"$ref": "#/components/schemas/TaskLevelWindows"}
                }
              }
            },
            "service": {
              "type": "array",
              "description": "Headroom itself; empty where tenant, pool or tier is asked for",
              "items": {
                "type": "object",
                "required": ["level", "limit_seconds", "age_seconds", "objective", "windows"],
                "properties": {
                  "level": {"enum": ["published", "decision", "ingest"]},
                  "limit_seconds": {"type": "number", "description": "The most that its age may be"},
                  "age_seconds": {"type": ["number", "null"], "description": "Now; null before the first"},
                  "objective": {"type": "number"},
                  "windows": {"$ref": "#/components/schemas/LevelWindows"}
                }
              }
            }
          }
        },
        "StarvationReport": {
          "type": "object",
          "required": ["from", "to", "tenants"],
          "properties": {
            "from": {"type": "string", "format": "date-time"},
            "to": {"type": "string", "format": "date-time"},
            "tenants": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "tenant": {"type": "string"},
                  "pool": {"type": "string"},
                  "reason": {"enum": ["delivery", "shortage"], "description": "Of most of the time"},
                  "starved_seconds": {"type": "number"},
                  "longest_spell_seconds": {"type": "number"},
                  "longest_wait_seconds": {"type": "number", "description": "Of a queued call meanwhile"},
                  "asked_tokens": {"type": "integer", "description": "Asked for meanwhile, each piece of work once"},
                  "counted_tokens": {"type": "integer", "description": "Got meanwhile"},
                  "first": {"type": "string", "format": "date-time"},
                  "last": {"type": "string", "format": "date-time"},
                  "starved_since": {
                    "type": ["string", "null"], "format": "date-time",
                    "description": "Since when, where it goes on: as in its alert"
                  },
                  "spells": {
                    "type": "array",
                    "description": "Starved times with less than an hour between them",
                    "items": {
                      "type": "object",
                      "properties": {
                        "first": {"type": "string", "format": "date-time"},
                        "last": {"type": "string", "format": "date-time"},
                        "delivery_seconds": {"type": "number"}, "shortage_seconds": {"type": "number"},
                        "longest_wait_seconds": {"type": "number"}, "asked_tokens": {"type": "integer"},
                        "counted_tokens": {"type": "integer"}
                      }
                    }
                  }
                }
              }
            }
          }
        },
        "LevelWindows": {
          "type": "object",
          "required": ["5m", "1h", "24h", "30d"],
          "properties": {
            "5m": {"$ref": "#/components/schemas/LevelWindow"}, "1h": {"$ref": "#/components/schemas/LevelWindow"},
            "24h": {"$ref": "#/components/schemas/LevelWindow"}, "30d": {"$ref": "#/components/schemas/LevelWindow"}
          }
        },
        "TaskLevelWindows": {
          "type": "object",
          "required": ["5m", "1h", "24h", "30d"],
          "properties": {
            "5m": {"$ref": "#/components/schemas/TaskLevelWindow"}, "1h": {"$ref": "#/components/schemas/TaskLevelWindow"},
            "24h": {"$ref": "#/components/schemas/TaskLevelWindow"}, "30d": {"$ref": "#/components/schemas/TaskLevelWindow"}
          }
        },
        "TaskLevelWindow": {
          "type": "object",
          "required": ["tasks", "late", "attainment", "burn"],
          "properties": {
            "tasks": {"type": "integer", "description": "That ended"},
            "late": {"type": "integer", "description": "Of these, those that took longer"},
            "attainment": {"type": ["number", "null"], "description": "null: none ended"},
            "burn": {"type": ["number", "null"], "description": "How many times faster the level is missed than it may be"}
          }
        },
        "LevelWindow": {
          "type": "object",
          "required": ["observed_seconds", "missed_seconds", "attainment", "burn"],
          "properties": {
            "observed_seconds": {"type": "number"},
            "missed_seconds": {"type": "number"},
            "attainment": {"type": ["number", "null"], "description": "null: nothing was looked at"},
            "burn": {"type": ["number", "null"], "description": "How many times faster the level is missed than it may be"},
            "longest_wait_seconds": {"type": "number", "description": "Of a queued call; not of Headroom's own levels"}
          }
        }
        """#)
}
