extension OpenAPIDocument {
    static let drawPaths = encoded(
        #"""
        "/v1/draw": {
          "post": {
            "summary": "Tell a pool's float what was returned and used, and ask for budget for what waits (role gateway)",
            "requestBody": {
              "required": true,
              "description": "At most 1 MiB",
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Draw"}}}
            },
            "responses": {
              "200": {
                "description": "Answered from memory. A repeated sequence gets the first answer again",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/DrawAnswer"}}}
              },
              "400": {"$ref": "#/components/responses/Problem"},
              "401": {"$ref": "#/components/responses/Problem"},
              "403": {"$ref": "#/components/responses/Problem"},
              "404": {"$ref": "#/components/responses/Problem"},
              "409": {"$ref": "#/components/responses/Problem"},
              "413": {"$ref": "#/components/responses/Problem"},
              "415": {"$ref": "#/components/responses/Problem"},
              "503": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
        """#)

    static let drawSchemas = encoded(
        #"""
        "Work": {
          "type": "object",
          "description": "An amount. Without tokens they are input_tokens and output_tokens together",
          "properties": {
            "requests": {"type": "number"}, "tokens": {"type": "number"},
            "input_tokens": {"type": "number", "description": "Where the pool limits them apart"},
            "output_tokens": {"type": "number"}
          }
        },
        "WaitingCall": {
          "type": "object",
          "properties": {
            "requests": {"type": "number", "minimum": 0, "description": "1 where it is absent"},
            "tokens": {"type": "number", "minimum": 0, "description": "Estimated"},
            "input_tokens": {"type": "number", "minimum": 0},
            "output_tokens": {"type": "number", "minimum": 0},
            "criticality": {"enum": ["interactive", "near_real_time", "batch"], "description": "interactive where it is absent"},
            "waited_ms": {"type": "number", "minimum": 0, "description": "Since it arrived. Absent: since its gateway first told of it"},
            "patience_ms": {
              "type": "number", "minimum": 0,
              "description": "Until its caller gives up. In its last two seconds a call goes a little earlier; absent: never"
            }
          }
        },
        "Draw": {
          "type": "object",
          "required": ["gateway", "boot", "sequence", "pool", "epoch"],
          "properties": {
            "gateway": {"$ref": "#/components/schemas/Identifier"},
            "member": {"$ref": "#/components/schemas/Identifier", "description": "As in polls"},
            "boot": {"$ref": "#/components/schemas/Identifier", "description": "Another word at each start of the process"},
            "sequence": {
              "type": "integer", "minimum": 0,
              "description": "Ascends with each draw of a boot from a pool; the same number is the same draw"
            },
            "pool": {"$ref": "#/components/schemas/Identifier"},
            "epoch": {"type": "integer", "minimum": 0, "description": "That of the snapshot in force at the gateway"},
            "totals": {
              "type": "object",
              "description": "Since the boot: what is lost or repeated loses and doubles nothing",
              "properties": {
                "returned": {
                  "$ref": "#/components/schemas/Work", "description": "Budget that was given up, as no work was there for it"
                },
                "granted_used": {
                  "$ref": "#/components/schemas/Work",
                  "description": "Of what was granted: what calls that ended have cost, of those under way the estimate"
                },
                "spent": {
                  "type": "object",
                  "description": "By tenant, on whatever right, without refused attempts. All tenants in the first draw of an epoch, later those that have changed",
                  "additionalProperties": {"$ref": "#/components/schemas/Work"}
                }
              }
            },
            "waiting": {
              "type": "object",
              "description": "By tenant: the heads of its queue, in the order in which they would go. At most 64 are looked at",
              "additionalProperties": {"type": "array", "items": {"$ref": "#/components/schemas/WaitingCall"}}
            },
            "holds": {
              "type": "boolean",
              "description": "Whether the gateway keeps its budget for now, as an ample answer lets it. Absent: it never does, and no answer is ample"
            }
          }
        },
        "DrawAnswer": {
          "type": "object",
          "required": ["sequence", "granted", "granted_total", "service_clocks", "wait_ms"],
          "properties": {
            "sequence": {"type": "integer", "description": "That of the draw"},
            "granted": {
              "type": "object", "description": "By tenant: so many of its waiting calls may go, the first ones",
              "additionalProperties": {"type": "integer", "minimum": 1}
            },
            "granted_total": {
              "$ref": "#/components/schemas/Work",
              "description": "Since the boot, in this epoch; what this answer grants is in it"
            },
            "service_clocks": {
              "type": "object", "description": "Of the tenants in the draw: newer ones than the snapshot's",
              "additionalProperties": {"type": "number"}
            },
            "wait_ms": {"type": "integer", "minimum": 0, "description": "What still waits may draw again after so long"},
            "ample": {
              "type": "boolean",
              "description": "Only true, and only in answer to a draw with holds: no call has been left waiting for five seconds, and the gateway may keep its budget, up to half of the burst, and lend"
            }
          }
        }
        """#)
}
