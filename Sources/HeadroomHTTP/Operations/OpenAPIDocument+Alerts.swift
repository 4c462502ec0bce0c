import HeadroomModel

extension OpenAPIDocument {
    static let alertPaths: [UInt8] = Array(
        [
            #"""
            "/v1/alerts": {
              "get": {
                "summary": "What a person should look at (roles viewer, success, sre, admin)",
                "parameters": [
                  {"name": "state", "in": "query", "description": "Without it, open and acknowledged ones",
                   "schema": {"enum": ["open", "acknowledged", "closed", "all"]}},
                  {"name": "kind", "in": "query", "schema": {"$ref": "#/components/schemas/AlertKind"}},
                  {"$ref": "#/components/parameters/Pool"}, {"$ref": "#/components/parameters/Tenant"}
                ],
                "responses": {
                  "200": {
                    "description": "Newest first, at most 500",
                    "content": {
                      "application/json": {
                        "schema": {
                          "type": "object",
                          "required": ["alerts"],
                          "properties": {"alerts": {"type": "array", "items": {"$ref": "#/components/schemas/Alert"}}}
                        }
                      }
                    }
                  },
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            }
            """#,
            act("acknowledge", "Say that somebody looks after an alert", "AcknowledgeRequest"),
            act("mute", "Let nobody be notified of it until an end, also when it comes again", "MuteRequest"),
        ].joined(separator: ",").utf8)

    private static func act(_ verb: String, _ summary: String, _ request: String) -> String {
        #"""
        "/v1/alerts/{id}/\#(verb)": {
          "post": {
            "summary": "\#(summary) (roles sre, admin)",
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/\#(request)"}}}
            },
            "responses": {
              "200": {
                "description": "In the audit log",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Alert"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
        """#
    }

    static let alertSchemas: [UInt8] = Array(
        #"""
        "AlertKind": {"enum": [\#(AlertKind.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))]},
        "AlertSeverity": {"enum": [\#(AlertSeverity.allCases.map { "\"\($0.name)\"" }.joined(separator: ", "))]},
        "AcknowledgeRequest": {
          "type": "object",
          "additionalProperties": false,
          "required": ["reason"],
          "properties": {"reason": {"$ref": "#/components/schemas/Reason"}}
        },
        "MuteRequest": {
          "type": "object",
          "additionalProperties": false,
          "required": ["reason", "expires_in_seconds"],
          "properties": {
            "reason": {"$ref": "#/components/schemas/Reason"},
            "expires_in_seconds": {"$ref": "#/components/schemas/ExpiresInSeconds"}
          }
        },
        "Alert": {
          "type": "object",
          "required": ["id", "kind", "severity", "state", "sentence", "since", "opened_at", "updated_at", "count", "members"],
          "description": "There is at most one open of a kind, pool and reason; what happens to many at once is one with many members",
          "properties": {
            "id": {"type": "integer"},
            "kind": {"$ref": "#/components/schemas/AlertKind"},
            "reason": {"type": ["string", "null"], "description": "Where a kind has several: delivery, shortage"},
            "pool": {"type": ["string", "null"], "description": "null: it concerns the service"},
            "severity": {"$ref": "#/components/schemas/AlertSeverity"},
            "state": {"enum": ["open", "acknowledged", "closed"]},
            "sentence": {"type": "string"},
            "since": {"type": "string", "format": "date-time", "description": "When it began, which may be before it was opened"},
            "opened_at": {"type": "string", "format": "date-time"},
            "updated_at": {"type": "string", "format": "date-time"},
            "closed_at": {"type": ["string", "null"], "format": "date-time"},
            "outcome": {"type": ["string", "null"], "description": "How it stood when it closed; null while it is open, and where there is nothing to say"},
            "count": {"type": "integer", "description": "Of members, also those that are not listed"},
            "members": {
              "type": "array",
              "maxItems": 20,
              "description": "Tenants, gateways or questions that it is about, the gravest first",
              "items": {
                "type": "object",
                "properties": {
                  "name": {"type": "string"},
                  "tenant": {"type": ["string", "null"]},
                  "since": {"type": "string", "format": "date-time"},
                  "severity": {"$ref": "#/components/schemas/AlertSeverity"},
                  "sentence": {"type": "string"},
                  "recommendation": {
                    "type": ["object", "null"],
                    "properties": {
                      "sentence": {"type": "string"},
                      "call": {
                        "type": ["object", "null"],
                        "description": "The call of this service that does it; within one's limits it applies, beyond them it asks",
                        "properties": {
                          "method": {"enum": ["POST", "DELETE"]},
                          "path": {"type": "string"},
                          "body": {"type": ["object", "null"]}
                        }
                      }
                    }
                  }
                }
              }
            },
            "acknowledged": {
              "type": ["object", "null"],
              "properties": {
                "author": {"type": "string"}, "reason": {"type": "string"}, "at": {"type": "string", "format": "date-time"}
              }
            },
            "muted": {"oneOf": [{"$ref": "#/components/schemas/Authorship"}, {"type": "null"}]}
          }
        }
        """#.utf8)
}
