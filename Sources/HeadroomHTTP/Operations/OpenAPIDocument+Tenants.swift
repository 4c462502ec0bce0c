extension OpenAPIDocument {
    static let tenantPaths = encoded(
        #"""
        "/v1/tenants": {
          "get": {
            "summary": "What tenants have bought and how they fare (roles viewer, success, sre, admin)",
            "parameters": [
              {"$ref": "#/components/parameters/Pool"}, {"$ref": "#/components/parameters/Tenant"},
              {"name": "after", "in": "query", "schema": {"$ref": "#/components/schemas/Identifier"},
               "description": "next of the page before"},
              {"name": "limit", "in": "query",
               "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}},
              {"name": "order", "in": "query", "schema": {"enum": ["tenant", "worst"], "default": "tenant"},
               "description": "worst: longest underserved first, one page only"}
            ],
            "responses": {
              "200": {
                "description": "A page",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "properties": {
                        "tenants": {"type": "array", "items": {"$ref": "#/components/schemas/TenantStatus"}},
                        "next": {"type": ["string", "null"], "description": "after of the next page"}
                      }
                    }
                  }
                }
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/tenants/{id}": {
          "parameters": [
            {"name": "id", "in": "path", "required": true, "schema": {"$ref": "#/components/schemas/Identifier"}}
          ],
          "put": {
            "summary": "A tenant's contract, whole (role admin)",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Contract"}}}
            },
            "responses": {
              "200": {
                "description": "In force at the next tick",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Contract"}}}
              },
              "202": {
                "description": "With what this person has changed within 24 hours it is more than one may change: nothing was changed. Once a second one has approved it, the same call is taken",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ApprovalNeeded"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          },
          "delete": {
            "summary": "Erase a tenant: its contract and all that is stored of it (role admin)",
            "responses": {
              "204": {"$ref": "#/components/responses/Done"},
              "202": {
                "description": "With what this person has changed within 24 hours it is more than one may change: nothing was changed. Once a second one has approved it, the same call is taken",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ApprovalNeeded"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/tenants/import": {
          "post": {
            "summary": "Replace all contracts, or none (role admin)",
            "parameters": [
              {"name": "dry_run", "in": "query", "schema": {"type": "boolean", "default": false},
               "description": "Answer what would change, and change nothing"},
              {"name": "confirm", "in": "query", "schema": {"type": "integer", "minimum": 0},
               "description": "How many contracts would be removed, as a dry run says. Required when that is more than half of them; when given it must be right, else 409"}
            ],
            "requestBody": {
              "required": true,
              "description": "At most 8 MiB",
              "content": {
                "application/json": {
                  "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Contract"}}
                },
                "text/csv": {"schema": {"type": "string"}}
              }
            },
            "responses": {
              "200": {
                "description": "All were taken, or would be",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ContractImport"}}}
              },
              "202": {
                "description": "It would change more than one person may: nothing was changed. Once a second one has approved it, the same import is taken",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ApprovalNeeded"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
        """#)

    static let recordPaths = encoded(
        #"""
        "/v1/explain": {
          "get": {
            "summary": "How a number came about, or a period's story (roles viewer, success, sre, admin)",
            "parameters": [
              {"name": "tenant", "in": "query", "schema": {"$ref": "#/components/schemas/Identifier"},
               "description": "Required without from"},
              {"name": "pool", "in": "query", "required": true, "schema": {"$ref": "#/components/schemas/Identifier"}},
              {"name": "generation", "in": "query", "schema": {"type": "integer", "minimum": 1},
               "description": "The newest by default"},
              {"name": "at", "in": "query", "schema": {"type": "string"},
               "description": "RFC 3339 or milliseconds since 1970: the generation that was in force then"},
              {"name": "from", "in": "query", "schema": {"type": "string"},
               "description": "Of a period, 35 days at most; of a pool where tenant is left out"},
              {"name": "to", "in": "query", "schema": {"type": "string"}, "description": "Of a period; now by default"}
            ],
            "responses": {
              "200": {
                "description": "The chain of numbers, or a period's; and the same in sentences",
                "content": {"application/json": {"schema": {"anyOf": [
                  {"$ref": "#/components/schemas/Explanation"}, {"$ref": "#/components/schemas/Period"}
                ]}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/costs": {
          "get": {
            "summary": "Showback: recorded use and its cost (roles viewer, success, sre, admin)",
            "parameters": [
              {"name": "from", "in": "query", "schema": {"type": "string"},
               "description": "RFC 3339 or milliseconds since 1970; whole hours count. By default the month that to lies in"},
              {"name": "to", "in": "query", "schema": {"type": "string"}, "description": "Now by default"},
              {"name": "by", "in": "query", "required": true, "schema": {"enum": ["tenant", "pool", "model", "criticality", "task-kind"]}}
            ],
            "responses": {
              "200": {
                "description": "Money in millionths of the currency's unit; the lines add up to the totals, which are the same whatever by says",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Costs"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/generations": {
          "get": {
            "summary": "Generations that are kept, the newest first (roles viewer, success, sre, admin)",
            "parameters": [
              {"name": "from", "in": "query", "schema": {"type": "string"},
               "description": "RFC 3339 or milliseconds since 1970"},
              {"name": "to", "in": "query", "schema": {"type": "string"},
               "description": "Now by default; with limit=1, the one in force then"},
              {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}}
            ],
            "responses": {
              "200": {
                "description": "When each was issued, and of how many tenants numbers were set; next is to of the rest",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Generations"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/generations/{id}": {
          "get": {
            "summary": "What differs between two generations, as 1840..1842 (roles viewer, success, sre, admin)",
            "parameters": [
              {"name": "id", "in": "path", "required": true, "schema": {"type": "string", "pattern": "^[0-9]+\\.\\.[0-9]+$"}},
              {"name": "pool", "in": "query", "schema": {"$ref": "#/components/schemas/Identifier"}},
              {"$ref": "#/components/parameters/Tenant"},
              {"name": "limit", "in": "query", "description": "Tenants of each pool",
               "schema": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 100}}
            ],
            "responses": {
              "200": {
                "description": "Pools that differ, and their tenants that do, those that moved most first",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/GenerationDifference"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/history": {
          "get": {
            "summary": "Series for plots (roles viewer, success, sre, admin)",
            "parameters": [
              {"name": "pool", "in": "query", "required": true, "schema": {"$ref": "#/components/schemas/Identifier"}},
              {"$ref": "#/components/parameters/Tenant"},
              {"name": "from", "in": "query", "schema": {"type": "string"},
               "description": "RFC 3339 or milliseconds since 1970; by default an hour before to"},
              {"name": "to", "in": "query", "schema": {"type": "string"}, "description": "Now by default"},
              {"name": "step", "in": "query", "schema": {"type": "integer", "minimum": 60},
               "description": "Seconds that are added up, rounded up to 1, 2, 5, 10, 15 or 30 minutes, 1, 2, 3, 6 or 12 hours, or whole days; by default for at most 300 steps. An answer has 750 at most"},
              {"name": "top", "in": "query", "schema": {"type": "integer", "minimum": 0, "maximum": 20},
               "description": "Of a pool as a whole: so many of the tenants that were served most have a series of their own"}
            ],
            "responses": {
              "200": {
                "description": "Sums over whole steps, counted from 1970; one of which nothing is known is left out",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/History"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/audit": {
          "get": {
            "summary": "The chained log of what people did (roles sre, admin)",
            "parameters": [
              {"name": "after", "in": "query", "schema": {"type": "integer", "minimum": 0, "default": 0}},
              {"name": "limit", "in": "query",
               "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}}
            ],
            "responses": {
              "200": {
                "description": "Ascending by sequence",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "properties": {
                        "entries": {
                          "type": "array",
                          "items": {
                            "type": "object",
                            "properties": {
                              "sequence": {"type": "integer"},
                              "at": {"type": "string", "format": "date-time"},
                              "author": {"type": "string"},
                              "action": {"type": "string"},
                              "detail": {"type": ["object", "string"], "description": "A text where the stored one is no JSON"},
                              "hash": {"type": "string", "description": "SHA-256 of the row and the hash before it"}
                            }
                          }
                        },
                        "next": {"type": ["integer", "null"], "description": "after of the next page"},
                        "verified": {
                          "type": ["object", "null"],
                          "description": "What the walk along the whole log at the start found; null until it has ended",
                          "properties": {
                            "at": {"type": "string", "format": "date-time"},
                            "sequence": {"type": "integer", "description": "The last entry up to which all is whole"},
                            "hash": {"type": "string", "description": "That entry's"},
                            "fault": {
                              "type": ["object", "null"],
                              "properties": {
                                "sequence": {"type": "integer"},
                                "detail": {"type": "string", "description": "What was expected there and what was found"}
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
}
