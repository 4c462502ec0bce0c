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
        "/v1/task-times": {
          "get": {
            "summary": "How long agent tasks took, and how much of it they waited for quota (roles viewer, success, sre, admin)",
            "parameters": [
              {"name": "from", "in": "query", "schema": {"type": "string"},
               "description": "RFC 3339 or milliseconds since 1970; by default an hour before to"},
              {"name": "to", "in": "query", "schema": {"type": "string"}, "description": "Now by default"},
              {"name": "tenant", "in": "query", "schema": {"$ref": "#/components/schemas/Identifier"}}
            ],
            "responses": {
              "200": {
                "description": "By tenant and kind; those first that waited longest together. Up to the last roll-up, a minute ago at most",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/TaskTimes"}}}
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
        "TaskTimes": {
          "type": "object",
          "required": ["from", "to", "kinds"],
          "properties": {
            "from": {"type": "string", "format": "date-time"},
            "to": {"type": "string", "format": "date-time"},
            "kinds": {"type": "array", "items": {"$ref": "#/components/schemas/TaskKindTimes"}}
          }
        },
        "TaskKindTimes": {
          "type": "object",
          "required": ["tenant", "task_kind", "tasks", "completed", "failed", "p50_seconds", "p95_seconds", "waited_seconds", "waited_share", "usual_tasks", "usual_p50_seconds", "usual_p95_seconds", "calls", "retries", "refused", "running", "overdue", "sentence"],
          "properties": {
            "tenant": {"type": "string"},
            "task_kind": {"type": ["string", "null"], "description": "null: their calls name none"},
            "tasks": {"type": "integer", "description": "That ended in the time; a task is the whole tree that one began"},
            "completed": {"type": "integer", "description": "Of these, by lines that say so"},
            "failed": {"type": "integer"},
            "p50_seconds": {"type": ["number", "null"], "description": "From the arrival of its first call to its end"},
            "p95_seconds": {"type": ["number", "null"]},
            "waited_seconds": {"type": "number", "description": "In which a call of theirs waited for quota, of all together"},
            "waited_share": {"type": ["number", "null"], "description": "Of the time that they took"},
            "usual_tasks": {"type": "integer", "description": "That ended in the seven days before from"},
            "usual_p50_seconds": {"type": ["number", "null"], "description": "null: fewer than ten ended then"},
            "usual_p95_seconds": {"type": ["number", "null"]},
            "calls": {"type": "integer", "description": "That were served"},
            "retries": {"type": "integer", "description": "Attempts after the first"},
            "refused": {"type": "integer", "description": "Attempts that were refused for want of quota, by gateways or the provider"},
            "running": {"type": "integer", "description": "In progress now"},
            "overdue": {"type": "integer", "description": "Of these, those that have taken three times the usual median already"},
            "sentence": {"type": "string"}
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
