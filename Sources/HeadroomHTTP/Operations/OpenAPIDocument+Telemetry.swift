extension OpenAPIDocument {
    /// The lines of `POST /v1/telemetry` (WireFormat §1). Fields that are not known are ignored, and null is as absent.
    static let telemetrySchemas = encoded(
        #"""
        "TelemetryLine": {
          "oneOf": [
            {"$ref": "#/components/schemas/CallLine"}, {"$ref": "#/components/schemas/WindowLine"},
            {"$ref": "#/components/schemas/QueueLine"}, {"$ref": "#/components/schemas/ResponseLine"},
            {"$ref": "#/components/schemas/TaskLine"}, {"$ref": "#/components/schemas/ModelLine"}
          ],
          "discriminator": {
            "propertyName": "type",
            "mapping": {
              "call": "#/components/schemas/CallLine", "window": "#/components/schemas/WindowLine",
              "queue": "#/components/schemas/QueueLine", "response": "#/components/schemas/ResponseLine",
              "task": "#/components/schemas/TaskLine", "model": "#/components/schemas/ModelLine"
            }
          }
        },
        "Instant": {
          "description": "On the sender's clock: RFC 3339, or milliseconds since 1970",
          "oneOf": [
            {"type": "integer", "minimum": 0, "maximum": 253402300799999}, {"type": "string", "format": "date-time"}
          ]
        },
        "LineId": {
          "type": "string", "maxLength": 256,
          "description": "Unique per gateway and best ascending: the line counts once within dedupe_seconds (900 by default)"
        },
        "Text": {"type": "string", "maxLength": 256},
        "Count": {"type": "integer", "minimum": 0, "maximum": 1000000000000},
        "Milliseconds": {"type": "number", "minimum": 0, "maximum": 86400000},
        "SendingGateway": {
          "allOf": [{"$ref": "#/components/schemas/Identifier"}],
          "description": "Required unless the token names exactly one gateway"
        },
        "Criticality": {"enum": ["interactive", "near_real_time", "batch"], "default": "interactive"},
        "CallLine": {
          "type": "object",
          "description": "One attempt at one piece of work. A gateway reports a tenant × pool by calls or by windows, not both",
          "required": ["type", "tenant", "pool", "outcome"],
          "properties": {
            "type": {"const": "call"},
            "id": {"$ref": "#/components/schemas/LineId"},
            "request": {"allOf": [{"$ref": "#/components/schemas/Text"}],
              "description": "The same for all attempts at one piece of work: demand counts it once"},
            "at": {"allOf": [{"$ref": "#/components/schemas/Instant"}],
              "description": "The end of the call; absent: the time of arrival"},
            "gateway": {"$ref": "#/components/schemas/SendingGateway"},
            "tenant": {"$ref": "#/components/schemas/Identifier"},
            "pool": {"$ref": "#/components/schemas/Identifier"},
            "model": {"$ref": "#/components/schemas/Text"},
            "endpoint": {"$ref": "#/components/schemas/Text"},
            "criticality": {"$ref": "#/components/schemas/Criticality"},
            "task": {"$ref": "#/components/schemas/Text"},
            "parent": {"allOf": [{"$ref": "#/components/schemas/Text"}], "description": "The task that this one belongs to"},
            "work": {"enum": ["model", "tool"], "description": "tool: it serves a tool of the task, and is no round of the task's own loop"},
            "task_kind": {"allOf": [{"$ref": "#/components/schemas/Text"}], "description": "The kind of agent task that it is made for, as code-review: costs are shown by it"},
            "attempt": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 1},
            "outcome": {
              "enum": [
                "ok", "cached", "denied", "quota", "overload", "ramp", "billing", "auth", "client", "server", "error"
              ],
              "description": "denied: by the gateway, for want of allocation; quota: the provider's limit is used up; overload: the provider has no capacity; ramp: traffic grew too fast; error: not specified"
            },
            "status": {"type": "integer", "minimum": 100, "maximum": 599},
            "latency_ms": {"allOf": [{"$ref": "#/components/schemas/Milliseconds"}],
              "description": "The call began so long before at"},
            "queued_ms": {"allOf": [{"$ref": "#/components/schemas/Milliseconds"}],
              "description": "It arrived so long before it began"},
            "input_tokens": {"$ref": "#/components/schemas/Count"},
            "output_tokens": {"$ref": "#/components/schemas/Count"},
            "cached_input_tokens": {"$ref": "#/components/schemas/Count"},
            "max_tokens": {"$ref": "#/components/schemas/Count"},
            "counted_tokens": {"allOf": [{"$ref": "#/components/schemas/Count"}],
              "description": "What the provider charged to the quota, where known"}
          }
        },
        "WindowLine": {
          "type": "object",
          "description": "A tenant's calls over a time, summed: requests = ok + quota + overload + error",
          "required": ["type", "start", "seconds", "tenant", "pool", "requests"],
          "properties": {
            "type": {"const": "window"},
            "id": {"$ref": "#/components/schemas/LineId"},
            "start": {"$ref": "#/components/schemas/Instant"},
            "seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 3600},
            "gateway": {"$ref": "#/components/schemas/SendingGateway"},
            "tenant": {"$ref": "#/components/schemas/Identifier"},
            "pool": {"$ref": "#/components/schemas/Identifier"},
            "criticality": {"$ref": "#/components/schemas/Criticality"},
            "requests": {"$ref": "#/components/schemas/Count"},
            "ok": {"$ref": "#/components/schemas/Count"},
            "quota": {"$ref": "#/components/schemas/Count"},
            "overload": {"$ref": "#/components/schemas/Count"},
            "error": {"$ref": "#/components/schemas/Count"},
            "retries": {"allOf": [{"$ref": "#/components/schemas/Count"}], "description": "Among the requests"},
            "denied": {"allOf": [{"$ref": "#/components/schemas/Count"}],
              "description": "Unique work that the gateway refused, besides the requests"},
            "denied_tokens": {"$ref": "#/components/schemas/Count"},
            "input_tokens": {"$ref": "#/components/schemas/Count"},
            "output_tokens": {"$ref": "#/components/schemas/Count"},
            "latency_ms": {
              "type": "object", "required": ["count", "p50", "p95", "p99"],
              "properties": {
                "count": {"$ref": "#/components/schemas/Count"},
                "p50": {"$ref": "#/components/schemas/Milliseconds"},
                "p95": {"$ref": "#/components/schemas/Milliseconds"},
                "p99": {"$ref": "#/components/schemas/Milliseconds"}
              }
            }
          }
        },
        "QueueLine": {
          "type": "object",
          "description": "What waits at the gateway",
          "required": ["type", "tenant", "pool", "depth"],
          "properties": {
            "type": {"const": "queue"},
            "id": {"$ref": "#/components/schemas/LineId"},
            "at": {"$ref": "#/components/schemas/Instant"},
            "gateway": {"$ref": "#/components/schemas/SendingGateway"},
            "tenant": {"$ref": "#/components/schemas/Identifier"},
            "pool": {"$ref": "#/components/schemas/Identifier"},
            "criticality": {"$ref": "#/components/schemas/Criticality"},
            "depth": {"allOf": [{"$ref": "#/components/schemas/Count"}], "description": "Requests"},
            "tokens": {"$ref": "#/components/schemas/Count"},
            "oldest_age_ms": {"type": "number", "minimum": 0, "maximum": 604800000}
          }
        },
        "ResponseLine": {
          "type": "object",
          "description": "What the provider answered, for its limits and its errors; never counted as a call",
          "required": ["type", "pool", "status"],
          "properties": {
            "type": {"const": "response"},
            "id": {"$ref": "#/components/schemas/LineId"},
            "at": {"$ref": "#/components/schemas/Instant"},
            "request": {"allOf": [{"$ref": "#/components/schemas/Text"}],
              "description": "As in the call, whose outcome this answer corrects"},
            "gateway": {"$ref": "#/components/schemas/SendingGateway"},
            "pool": {"$ref": "#/components/schemas/Identifier"},
            "model": {"$ref": "#/components/schemas/Text"},
            "endpoint": {"$ref": "#/components/schemas/Text"},
            "provider": {"$ref": "#/components/schemas/Text"},
            "status": {"type": "integer", "minimum": 100, "maximum": 599},
            "headers": {
              "type": "object", "maxProperties": 128,
              "description": "At most 16 KiB; values that are neither strings nor numbers are passed over",
              "additionalProperties": true
            },
            "body": {"type": "string", "maxLength": 4096, "description": "Of errors only; not stored"}
          }
        },
        "TaskLine": {
          "type": "object",
          "description": "How far an agent's task is",
          "required": ["type", "tenant", "pool", "task", "state"],
          "properties": {
            "type": {"const": "task"},
            "id": {"$ref": "#/components/schemas/LineId"},
            "at": {"$ref": "#/components/schemas/Instant"},
            "gateway": {"$ref": "#/components/schemas/SendingGateway"},
            "tenant": {"$ref": "#/components/schemas/Identifier"},
            "pool": {"$ref": "#/components/schemas/Identifier"},
            "criticality": {"$ref": "#/components/schemas/Criticality"},
            "task": {"$ref": "#/components/schemas/Text"},
            "parent": {"$ref": "#/components/schemas/Text"},
            "state": {"enum": ["started", "progress", "completed", "failed"]},
            "progress": {"type": "number", "minimum": 0, "maximum": 1},
            "remaining_requests": {"$ref": "#/components/schemas/Count"},
            "remaining_tokens": {"$ref": "#/components/schemas/Count"}
          }
        },
        "ModelLine": {
          "type": "object",
          "description": "Another version answers to a model's name from now on",
          "required": ["type", "pool", "model", "version"],
          "properties": {
            "type": {"const": "model"},
            "id": {"$ref": "#/components/schemas/LineId"},
            "at": {"$ref": "#/components/schemas/Instant"},
            "gateway": {"$ref": "#/components/schemas/SendingGateway"},
            "pool": {"$ref": "#/components/schemas/Identifier"},
            "model": {"$ref": "#/components/schemas/Text"},
            "version": {"$ref": "#/components/schemas/Text"}
          }
        }
        """#)
}
