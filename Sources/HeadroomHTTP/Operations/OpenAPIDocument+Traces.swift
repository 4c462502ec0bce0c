extension OpenAPIDocument {
    static let tracePaths = encoded(
        #"""
        "/v1/traces": {
          "post": {
            "summary": "Take OpenTelemetry spans of model calls, OTLP/HTTP; the answer comes after the commit (role gateway)",
            "parameters": [
              {"name": "Headroom-Tenant-Attribute", "in": "header",
               "schema": {"type": "string", "default": "headroom.tenant"},
               "description": "The attribute of a span, or of its resource, that names the tenant"},
              {"name": "Headroom-Pool", "in": "header", "schema": {"$ref": "#/components/schemas/Identifier"},
               "description": "The pool of spans without headroom.pool; without it the pool that is called PROVIDER:MODEL"},
              {"name": "Headroom-Gateway", "in": "header", "schema": {"$ref": "#/components/schemas/Identifier"},
               "description": "The gateway of spans without headroom.gateway; without it the token's only one, else service.name"},
              {"name": "Headroom-Sent-At", "in": "header", "schema": {"type": "string"},
               "description": "As for telemetry"}
            ],
            "requestBody": {
              "required": true,
              "description": "An ExportTraceServiceRequest: at most 8 MiB and 50,000 spans, after expansion where Content-Encoding is gzip",
              "content": {
                "application/x-protobuf": {"schema": {"type": "string", "format": "binary"}},
                "application/json": {"schema": {"type": "object"}}
              }
            },
            "responses": {
              "200": {
                "description": "An ExportTraceServiceResponse in the request's encoding. Spans that are calls and were not taken are counted in partial_success; repeating them does not help",
                "content": {
                  "application/x-protobuf": {"schema": {"type": "string", "format": "binary"}},
                  "application/json": {"schema": {"$ref": "#/components/schemas/TraceAnswer"}}
                }
              },
              "400": {
                "description": "A google.rpc.Status in the request's encoding; of a wrong header a problem",
                "content": {
                  "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}},
                  "application/x-protobuf": {"schema": {"type": "string", "format": "binary"}},
                  "application/json": {"schema": {"$ref": "#/components/schemas/TraceFailure"}}
                }
              },
              "401": {"$ref": "#/components/responses/Problem"},
              "403": {"$ref": "#/components/responses/Problem"},
              "413": {"$ref": "#/components/responses/Problem"},
              "415": {"$ref": "#/components/responses/Problem"},
              "503": {"$ref": "#/components/responses/Problem"}
            }
          }
        }
        """#)

    static let traceSchemas = encoded(
        #"""
        "TraceAnswer": {
          "type": "object",
          "properties": {
            "partialSuccess": {
              "type": "object",
              "required": ["rejectedSpans", "errorMessage"],
              "properties": {"rejectedSpans": {"type": "string"}, "errorMessage": {"type": "string"}}
            }
          }
        },
        "TraceFailure": {
          "type": "object",
          "required": ["code", "message"],
          "properties": {"code": {"type": "integer"}, "message": {"type": "string"}}
        }
        """#)
}
