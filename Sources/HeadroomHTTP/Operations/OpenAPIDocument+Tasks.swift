extension OpenAPIDocument {
    static let taskPaths = encoded(
        #"""
        "/v1/tasks": {
          "get": {
            "summary": "Agent tasks over all gateways, with what they used beside what they may use (roles viewer, success, sre, admin)",
            "parameters": [
              {"name": "tenant", "in": "query", "schema": {"$ref": "#/components/schemas/Identifier"}}
            ],
            "responses": {
              "200": {
                "description": "As of the last tick: those that are held back or ruled on first, then those that began a tree, the last used first; at most 1,000, and 200 of one tenant",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tasks"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/tasks/stop": {
          "post": {
            "summary": "Refuse all calls of a task and of those below it, from the next tick on (roles success, sre, admin)",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/TaskRulingRequest"}}}
            },
            "responses": {
              "201": {
                "description": "In place of an earlier word on the same task; another person's takes sre or admin",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/TaskRuling"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/tasks/lift": {
          "post": {
            "summary": "Let a task go on beyond its own budget for a while, also one that a person stopped (roles success, sre, admin)",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/TaskRulingRequest"}}}
            },
            "responses": {
              "201": {
                "description": "In place of an earlier word on the same task; another person's takes sre or admin",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/TaskRuling"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
        """#)

    static let taskSchemas = encoded(
        #"""
        "Tasks": {
          "type": "object",
          "required": ["currency", "tasks", "left_out"],
          "properties": {
            "currency": {"type": "string", "description": "Of micros"},
            "tasks": {"type": "array", "items": {"$ref": "#/components/schemas/Task"}},
            "left_out": {"type": "integer", "description": "Further ones that there was no room for"}
          }
        },
        "Task": {
          "type": "object",
          "required": ["tenant", "task", "parent", "root", "task_kind", "state", "held", "exhausted", "begun_at", "seen_at", "sentence", "used", "limits", "depth", "gateways", "children", "ruling"],
          "properties": {
            "tenant": {"type": "string"},
            "task": {"type": "string"},
            "parent": {"type": ["string", "null"]},
            "root": {"type": "string", "description": "The task that began the tree"},
            "task_kind": {"type": ["string", "null"]},
            "state": {"enum": ["running", "held", "stopped", "lifted", "ended"]},
            "held": {"enum": ["nothing", "tools", "branches", "steps", "all"], "description": "What is held back by its own budget, or by a person"},
            "exhausted": {"type": ["string", "null"], "description": "The limit that holds it"},
            "begun_at": {"type": "string", "format": "date-time"},
            "seen_at": {"type": "string", "format": "date-time"},
            "sentence": {"type": "string"},
            "used": {"$ref": "#/components/schemas/TaskAmounts"},
            "limits": {"$ref": "#/components/schemas/TaskAmounts"},
            "depth": {"type": "integer", "description": "Levels of tasks below it"},
            "gateways": {"type": "array", "items": {"type": "string"}},
            "children": {
              "type": "array", "description": "The tasks that it started and that used most tokens, at most 5",
              "items": {
                "type": "object", "required": ["task", "used"],
                "properties": {"task": {"type": "string"}, "used": {"$ref": "#/components/schemas/TaskAmounts"}}
              }
            },
            "ruling": {"anyOf": [{"$ref": "#/components/schemas/TaskRuling"}, {"type": "null"}]}
          }
        },
        "TaskAmounts": {
          "type": "object",
          "description": "Calls, tokens and micros (millionths of the currency's unit) are those of the task with all tasks below it; iterations are rounds of its own loop; fan_out is tasks that it started itself",
          "properties": {
            "calls": {"type": "integer"}, "iterations": {"type": "integer"}, "tokens": {"type": "integer"},
            "micros": {"type": "integer"}, "fan_out": {"type": "integer"}, "seconds": {"type": "integer"}
          },
          "additionalProperties": false
        },
        "TaskRuling": {
          "type": "object",
          "required": ["id", "tenant", "task", "verdict", "author", "reason", "at", "until"],
          "properties": {
            "id": {"type": "integer"},
            "tenant": {"type": "string"},
            "task": {"type": "string"},
            "verdict": {"enum": ["stop", "lift"]},
            "author": {"type": "string"},
            "reason": {"type": "string"},
            "at": {"type": "string", "format": "date-time"},
            "until": {"type": "string", "format": "date-time"}
          }
        },
        "TaskRulingRequest": {
          "type": "object",
          "required": ["task", "reason", "expires_in_seconds"],
          "properties": {
            "tenant": {
              "anyOf": [{"$ref": "#/components/schemas/Identifier"}, {"type": "null"}],
              "description": "Where several tenants have such a task, or it was not seen yet"
            },
            "task": {"type": "string", "minLength": 1, "maxLength": 256},
            "reason": {"$ref": "#/components/schemas/Reason"},
            "expires_in_seconds": {"$ref": "#/components/schemas/ExpiresInSeconds"}
          },
          "additionalProperties": false
        }
        """#)
}
