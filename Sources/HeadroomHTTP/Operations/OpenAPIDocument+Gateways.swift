extension OpenAPIDocument {
    static let gatewayPaths = encoded(
        #"""
        "/v1/telemetry": {
          "post": {
            "summary": "Take telemetry; the answer comes after the commit (role gateway)",
            "parameters": [
              {"name": "Headroom-Sent-At", "in": "header", "schema": {"type": "string"},
               "description": "The gateway's clock as it sends: milliseconds since 1970, or RFC 3339"},
              {"name": "Headroom-Batch", "in": "header", "schema": {"type": "integer", "minimum": 0},
               "description": "Ascending per gateway; a batch seen before is answered as the first time"},
              {"name": "Headroom-Boot", "in": "header", "schema": {"$ref": "#/components/schemas/Identifier"},
               "description": "As boot in polls: telemetry of a second process under one name is refused"},
              {"name": "Headroom-Member", "in": "header", "schema": {"$ref": "#/components/schemas/Identifier"},
               "description": "As member in polls; only beside Headroom-Boot"}
            ],
            "requestBody": {
              "required": true,
              "description": "At most 8 MiB and 50,000 lines, after expansion where Content-Encoding is gzip",
              "content": {
                "application/x-ndjson": {
                  "schema": {
                    "type": "string",
                    "description": "One JSON object a line, each as the schema TelemetryLine",
                    "contentMediaType": "application/x-ndjson",
                    "contentSchema": {"$ref": "#/components/schemas/TelemetryLine"}
                  }
                },
                "application/json": {
                  "schema": {
                    "oneOf": [
                      {"$ref": "#/components/schemas/TelemetryLine"},
                      {"type": "array", "items": {"$ref": "#/components/schemas/TelemetryLine"}}
                    ]
                  }
                }
              }
            },
            "responses": {
              "200": {
                "description": "Every accepted line is committed",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Receipt"}}}
              },
              "400": {"$ref": "#/components/responses/Problem"},
              "401": {"$ref": "#/components/responses/Problem"},
              "403": {"$ref": "#/components/responses/Problem"},
              "409": {"$ref": "#/components/responses/Problem"},
              "413": {"$ref": "#/components/responses/Problem"},
              "415": {"$ref": "#/components/responses/Problem"},
              "503": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/allocations": {
          "get": {
            "summary": "The newest snapshot, what changed in it, or the wait for the next (roles gateway, viewer, success, sre, admin)",
            "parameters": [
              {"name": "gateway", "in": "query", "schema": {"$ref": "#/components/schemas/Identifier"},
               "description": "The enforcement point that asks; without it the caller only reads. It takes part in the division of budgets once it has sent applied or telemetry: before that it is answered with the whole, enforce false"},
              {"name": "member", "in": "query", "schema": {"$ref": "#/components/schemas/Identifier"},
               "description": "Tells processes that share one gateway's counters apart; at most 4,096 of one gateway"},
              {"name": "boot", "in": "query", "schema": {"$ref": "#/components/schemas/Identifier"},
               "description": "Another word at each start of the process: a second one under the same name is refused while the first is alive"},
              {"name": "succeeds", "in": "query", "schema": {"$ref": "#/components/schemas/Identifier"},
               "description": "The boot of a process under the same name that the sender knows to be dead: it is not waited for"},
              {"name": "pool", "in": "query", "explode": true,
               "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Identifier"}}},
              {"name": "applied", "in": "query", "schema": {"$ref": "#/components/schemas/Version"},
               "description": "What is in force at the gateway"},
              {"name": "since", "in": "query", "schema": {"$ref": "#/components/schemas/Version"},
               "description": "Answer with what changed since then"},
              {"name": "wait", "in": "query", "schema": {"type": "number", "minimum": 0, "maximum": 60},
               "description": "Seconds to wait for something new; cut to half the lease"},
              {"name": "If-None-Match", "in": "header", "schema": {"type": "string"},
               "description": "Wins over since"},
              {"name": "Accept-Encoding", "in": "header", "schema": {"type": "string"},
               "description": "With gzip in it, bodies of 1 KiB and more come compressed, under a tag of their own"}
            ],
            "responses": {
              "200": {
                "description": "A snapshot or a delta; renews the lease",
                "headers": {
                  "ETag": {"schema": {"type": "string"}},
                  "Headroom-Epoch": {"schema": {"type": "integer"}},
                  "Headroom-Generation": {"schema": {"type": "integer"}},
                  "Headroom-Lease-Seconds": {"schema": {"type": "number"}}
                },
                "content": {
                  "application/json": {
                    "schema": {
                      "oneOf": [
                        {"$ref": "#/components/schemas/Snapshot"}, {"$ref": "#/components/schemas/SnapshotDelta"}
                      ]
                    }
                  }
                }
              },
              "304": {"description": "Nothing new; renews the lease"},
              "400": {"$ref": "#/components/responses/Problem"},
              "401": {"$ref": "#/components/responses/Problem"},
              "403": {"$ref": "#/components/responses/Problem"},
              "409": {"$ref": "#/components/responses/Problem"},
              "503": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
        """#)

    static let schemas = encoded(
        #"""
        "Identifier": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$"},
        "Version": {
          "type": "string", "pattern": "^[0-9]+\\.[0-9]+$", "description": "EPOCH.GENERATION"
        },
        "Receipt": {
          "type": "object",
          "required": ["accepted", "duplicate", "late", "rejected", "service_clocks"],
          "properties": {
            "accepted": {"type": "integer", "description": "Lines that are committed"},
            "duplicate": {"type": "integer", "description": "Lines that were taken before"},
            "late": {"type": "integer", "description": "Accepted lines that are too old to move live estimates"},
            "rejected": {
              "type": "array",
              "description": "Lines that cannot be taken; sending them again does not help",
              "items": {
                "type": "object",
                "properties": {"line": {"type": "integer"}, "detail": {"type": "string"}}
              }
            },
            "service_clocks": {
              "type": "object",
              "description": "By pool and tenant, for the tenants in the request: newer ones than the snapshot's",
              "additionalProperties": {"type": "object", "additionalProperties": {"type": "number"}}
            }
          }
        },
        "Problem": {
          "type": "object",
          "required": ["type", "title", "status"],
          "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "errors": {
              "type": "array",
              "items": {
                "type": "object", "required": ["detail"],
                "properties": {
                  "path": {"type": "string", "description": "Dotted, from the document's root: tenants.3.weight"},
                  "line": {"type": "integer", "description": "From 1"},
                  "detail": {"type": "string"}
                }
              }
            }
          }
        }
        """#)
}
