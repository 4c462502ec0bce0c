extension OpenAPIDocument {
    static let costBreakerPaths = encoded(
        #"""
        "/v1/cost-breaker": {
          "get": {
            "summary": "Whose spending the cost breaker holds back, or is near its ceiling (roles viewer, success, sre, admin)",
            "responses": {
              "200": {
                "description": "As of the last tick; ascending by tenant, then by kind of task",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/CostBreaker"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/cost-breaker/lifts": {
          "post": {
            "summary": "Let a tenant, or a kind of task, spend on for a while (roles sre, admin)",
            "requestBody": {
              "required": true,
              "content": {
                "application/json": {
                  "schema": {
                    "type": "object",
                    "required": ["reason", "expires_in_seconds"],
                    "properties": {
                      "tenant": {"anyOf": [{"$ref": "#/components/schemas/Identifier"}, {"type": "null"}]},
                      "task_kind": {"type": ["string", "null"], "minLength": 1, "maxLength": 200},
                      "reason": {"$ref": "#/components/schemas/Reason"},
                      "expires_in_seconds": {"$ref": "#/components/schemas/ExpiresInSeconds"}
                    },
                    "additionalProperties": false
                  }
                }
              }
            },
            "responses": {
              "201": {
                "description": "In force at the next tick, in place of an earlier one of the same subject",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/CostLift"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/cost-breaker/lifts/{id}": {
          "delete": {
            "summary": "End a lift (roles sre, admin)",
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "responses": {
              "204": {"$ref": "#/components/responses/Done"},
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
        """#)

    static let costBreakerSchemas = encoded(
        #"""
        "CostBreaker": {
          "type": "object",
          "required": ["on", "currency", "window_seconds", "subjects", "lifts"],
          "properties": {
            "on": {"type": "boolean", "description": "The policy states a ceiling"},
            "currency": {"type": "string"},
            "window_seconds": {"type": "number"},
            "subjects": {"type": "array", "items": {"$ref": "#/components/schemas/CostBreak"}},
            "lifts": {"type": "array", "items": {"$ref": "#/components/schemas/CostLift"}}
          }
        },
        "CostBreak": {
          "type": "object",
          "description": "How a tenant's spending, or that of a kind of task, stands against its ceiling. Money is in millionths of the currency's unit",
          "required": ["tenant", "task_kind", "state", "since", "sentence", "spent_micros", "ceiling_micros", "until", "limits"],
          "properties": {
            "tenant": {"type": ["string", "null"]},
            "task_kind": {"type": ["string", "null"]},
            "state": {
              "enum": ["free", "slowing", "slowed", "pausing", "paused"],
              "description": "slowing and pausing announce what follows at due"
            },
            "since": {"type": "string", "format": "date-time"},
            "due": {"type": ["string", "null"], "format": "date-time"},
            "sentence": {"type": "string"},
            "currency": {"type": "string"},
            "ceiling_micros": {"type": "number"},
            "spent_micros": {"type": "number", "description": "Since the window began"},
            "micros_per_minute": {"type": "number"},
            "projected_micros": {"type": "number", "description": "At the window's end, if the present rate goes on"},
            "projected_least_micros": {"type": "number", "description": "The interval in which that lies 19 times in 20"},
            "projected_most_micros": {"type": "number"},
            "until": {"type": "string", "format": "date-time", "description": "The window's end"},
            "fan_out": {
              "type": ["object", "null"],
              "properties": {"tasks_per_minute": {"type": "number"}, "calls_per_task": {"type": "number"}}
            },
            "limits": {
              "type": "object",
              "description": "By pool; empty unless it is slowed or paused",
              "additionalProperties": {"type": "object", "properties": {"rpm": {"type": "number"}}}
            },
            "lift": {"type": ["integer", "null"], "description": "The lift that is in force"}
          }
        },
        "CostLift": {
          "type": "object",
          "required": ["id", "tenant", "task_kind", "author", "reason", "at", "until"],
          "properties": {
            "id": {"type": "integer"},
            "tenant": {"type": ["string", "null"]},
            "task_kind": {"type": ["string", "null"]},
            "author": {"type": "string"},
            "reason": {"type": "string"},
            "at": {"type": "string", "format": "date-time"},
            "until": {"type": "string", "format": "date-time"}
          }
        }
        """#)
}
