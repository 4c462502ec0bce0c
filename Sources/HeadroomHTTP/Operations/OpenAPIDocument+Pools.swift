extension OpenAPIDocument {
    static let poolPaths = encoded(
        #"""
        "/v1/pools": {
          "get": {
            "summary": "How each pool fares (roles viewer, success, sre, admin)",
            "parameters": [{"$ref": "#/components/parameters/Pool"}],
            "responses": {
              "200": {
                "description": "Ascending by name",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "properties": {"pools": {"type": "array", "items": {"$ref": "#/components/schemas/PoolStatus"}}}
                    }
                  }
                }
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/pools/{id}/capacity": {
          "parameters": [
            {"name": "id", "in": "path", "required": true, "schema": {"$ref": "#/components/schemas/Identifier"}}
          ],
          "put": {
            "summary": "Pin a capacity, whatever the observer makes of the upstream (roles sre, admin)",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/CapacityRequest"}}}
            },
            "responses": {
              "200": {
                "description": "In place of an earlier one",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pin"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          },
          "delete": {
            "summary": "End the pin: the capacity is estimated again (roles sre, admin)",
            "responses": {
              "204": {"$ref": "#/components/responses/Done"},
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/freeze": {
          "get": {
            "summary": "Freezes and roll-backs in force (roles viewer, success, sre, admin)",
            "responses": {
              "200": {
                "description": "Ascending by id",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "properties": {"freezes": {"type": "array", "items": {"$ref": "#/components/schemas/Freeze"}}}
                    }
                  }
                }
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          },
          "post": {
            "summary": "Keep the numbers of a pool, or of all (roles sre, admin)",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/FreezeRequest"}}}
            },
            "responses": {
              "201": {
                "description": "In force at the next tick",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Freeze"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/freeze/{id}": {
          "delete": {
            "summary": "End a freeze or a roll-back (roles sre, admin)",
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "responses": {
              "204": {"$ref": "#/components/responses/Done"},
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/rollback": {
          "post": {
            "summary": "Publish an old generation's numbers as a new one, and keep them (roles sre, admin)",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/RollbackRequest"}}}
            },
            "responses": {
              "201": {
                "description": "In force at the next tick",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Freeze"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/gateways": {
          "get": {
            "summary": "Gateways that take part, how far behind they are and what is withheld for those that vanished (roles viewer, success, sre, admin)",
            "responses": {
              "200": {
                "description": "Those that take part, and those for which something is withheld",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "properties": {
                        "gateways": {
                          "type": "array",
                          "items": {
                            "type": "object",
                            "properties": {
                              "gateway": {"type": "string"},
                              "last_seen": {"type": ["string", "null"], "format": "date-time"},
                              "applied": {"oneOf": [{"$ref": "#/components/schemas/Version"}, {"type": "null"}]},
                              "sent": {"oneOf": [{"$ref": "#/components/schemas/Version"}, {"type": "null"}]},
                              "drift_generations": {"type": ["integer", "null"]},
                              "drift_seconds": {"type": ["number", "null"]},
                              "parts": {
                                "type": "array",
                                "description": "What it has in the newest generation, and once its lease has run out",
                                "items": {
                                  "type": "object",
                                  "properties": {
                                    "pool": {"type": "string"},
                                    "budget": {"$ref": "#/components/schemas/Rates"},
                                    "fallback": {"$ref": "#/components/schemas/Rates"}
                                  }
                                }
                              },
                              "draws": {
                                "type": "array",
                                "description": "Of the float's grants in the last five to ten minutes: how many calls it was granted, and how many of them it did not send. What is granted and not used was kept from others meanwhile",
                                "items": {
                                  "type": "object",
                                  "properties": {
                                    "pool": {"type": "string"},
                                    "granted": {"type": "number"},
                                    "unused": {"type": "number"}
                                  }
                                }
                              },
                              "withheld": {
                                "type": "array",
                                "description": "What the others are not given, as it may still be using it",
                                "items": {
                                  "type": "object",
                                  "properties": {
                                    "pool": {"type": "string"},
                                    "rates": {"$ref": "#/components/schemas/Rates"},
                                    "until": {"type": "string", "format": "date-time"}
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
        },
        "/v1/gateways/{id}": {
          "delete": {
            "summary": "Say goodbye: the gateway uses nothing any more, and the others have its part at once (roles gateway with its own name, sre, admin)",
            "parameters": [
              {"name": "id", "in": "path", "required": true, "schema": {"$ref": "#/components/schemas/Identifier"}}
            ],
            "responses": {
              "204": {"$ref": "#/components/responses/Done"},
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/policy": {
          "get": {
            "summary": "The rules in force, every default written out (roles viewer, success, sre, admin)",
            "responses": {
              "200": {
                "description": "rules is a rules.json5, each of pools a file of pools/",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "properties": {
                        "policy": {"type": "string", "description": "NAME@DIGEST"},
                        "refusal": {"type": ["string", "null"], "description": "Why newer files are not in force"},
                        "rules": {"type": "object"},
                        "pools": {"type": "array", "items": {"type": "object"}}
                      }
                    }
                  }
                }
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/v1/policy/check": {
          "post": {
            "summary": "Whether files would be taken as a policy (roles viewer, success, sre, admin)",
            "requestBody": {
              "required": true,
              "content": {
                "application/json": {
                  "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                      "files": {
                        "type": "object",
                        "description": "By path (rules.json5, pools/NAME.json5): the text",
                        "additionalProperties": {"type": "string"}
                      }
                    }
                  }
                }
              }
            },
            "responses": {
              "200": {
                "description": "Valid, or every fault with its place",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "properties": {
                        "valid": {"type": "boolean"},
                        "policy": {"type": "string"},
                        "pools": {"type": "array", "items": {"type": "string"}},
                        "faults": {
                          "type": "array",
                          "items": {
                            "type": "object",
                            "properties": {
                              "code": {"type": "string"}, "file": {"type": "string"},
                              "line": {"type": ["integer", "null"]}, "column": {"type": ["integer", "null"]},
                              "key": {"type": "string"}, "message": {"type": "string"}
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
