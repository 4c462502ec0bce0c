/// The calls that this version has, in OpenAPI 3.1.
///
/// It stands in several files, each a list of members with commas between them: the compiler takes its time over long
/// literals.
package enum OpenAPIDocument {
    package static let bytes: [UInt8] = listingErrors(
        in: opening
            + members([
                gatewayPaths, drawPaths, tracePaths, overridePaths, proposalPaths, poolPaths, tenantPaths, recordPaths,
                alertPaths, levelPaths, costBreakerPaths, taskPaths,
                operationsPaths, dashboardPaths,
            ])
            + middle
            + members([
                operationsSchemas, schemas, drawSchemas, traceSchemas, snapshotSchemas, telemetrySchemas,
                steeringSchemas, reportSchemas, alertSchemas, dashboardSchemas, levelSchemas, costBreakerSchemas,
                taskSchemas,
            ])
            + closing)

    private static let opening = encoded(
        #"""
        {
          "openapi": "3.1.0",
          "info": {
            "title": "Headroom",
            "version": "1",
            "description": "Allocations of shared LLM capacity: gateways send telemetry and poll snapshots, people steer."
          },
          "security": [{"bearer": []}],
          "paths": {
        """#)

    private static let middle = encoded(
        #"""
          },
          "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "parameters": {
              "Id": {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}},
              "Pool": {
                "name": "pool", "in": "query", "schema": {"$ref": "#/components/schemas/Identifier"},
                "description": "Only this pool"
              },
              "Tenant": {
                "name": "tenant", "in": "query", "schema": {"$ref": "#/components/schemas/Identifier"},
                "description": "Only this tenant"
              }
            },
            "responses": {
              "Done": {"description": "Done"},
              "Problem": {
                "description": "What is wrong and what would be right (RFC 9457)",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              }
            },
            "schemas": {
        """#)

    private static let closing = encoded("}}}")

    private static func members(_ lists: [[UInt8]]) -> [UInt8] { Array(lists.joined(separator: [UInt8(ascii: ",")])) }

    static func encoded(_ text: StaticString) -> [UInt8] { text.withUTF8Buffer { unsafe Array($0) } }

    private static let operationsSchemas = encoded(
        #"""
        "Readiness": {
          "type": "object",
          "required": ["ready", "reasons", "warnings"],
          "properties": {
            "ready": {"type": "boolean"},
            "reasons": {"type": "array", "items": {"type": "string"}, "description": "Why it is not ready"},
            "warnings": {"type": "array", "items": {"type": "string"}, "description": "What else to look at"},
            "epoch": {"type": "integer"},
            "generation": {"type": "integer", "description": "The newest one; absent before the first"},
            "published_age_seconds": {"type": "number"},
            "decision_age_seconds": {"type": "number"}
          }
        }
        """#)

    private static let operationsPaths = encoded(
        #"""
        "/healthz": {
          "get": {
            "summary": "The process answers",
            "security": [],
            "responses": {
              "200": {"description": "ok", "content": {"text/plain": {"schema": {"type": "string"}}}},
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/readyz": {
          "get": {
            "summary": "What is served can be relied on, or why not",
            "security": [],
            "responses": {
              "200": {
                "description": "Ready; warnings tell what else to look at",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Readiness"}}}
              },
              "503": {
                "description": "Not ready, with the reasons",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Readiness"}}}
              },
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/metrics": {
          "get": {
            "summary": "Prometheus text (roles viewer, success, sre, admin, unless the service runs with --open-metrics)",
            "responses": {
              "200": {"description": "Metrics, as of the last tick", "content": {"text/plain": {"schema": {"type": "string"}}}},
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        },
        "/openapi.json": {
          "get": {
            "summary": "This document",
            "security": [],
            "responses": {
              "200": {"description": "OpenAPI", "content": {"application/json": {"schema": {"type": "object"}}}},
              "default": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
        """#)
}
