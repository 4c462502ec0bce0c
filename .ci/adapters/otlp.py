"""Real OpenTelemetry exporters and instrumentations send their spans to Headroom's `POST /v1/traces`.

OpenAI's SDK calls a mock provider under OpenTelemetry's own instrumentation, OpenLLMetry's and OpenInference's, in protobuf with gzip;
hand-made spans go as JSON. Checks that Headroom counts each call once, with its tokens, its tenant and why it failed.

    .ci/try-adapters otlp
"""

import base64
import json
import logging
import pathlib
import sqlite3
import sys
import tempfile
import urllib.request

sys.dont_write_bytecode = True

from google.protobuf.json_format import MessageToDict
from openai import OpenAI
from openinference.instrumentation.openai import OpenAIInstrumentor as OpenInference
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.openai import OpenAIInstrumentor as OpenLLMetry
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor as OpenTelemetry
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

import mock_provider
import trial

MESSAGES = [{"role": "user", "content": "Summarise this. " * 50}]
CALLS = 4


class Kept(SpanExporter):
    """Keeps the spans, for what is sent by hand."""

    def __init__(self):
        self.spans = []

    def export(self, spans):
        self.spans += spans
        return SpanExportResult.SUCCESS


def provider_of(url, service, exporter=None, **headers):
    """Spans of one service, exported as they end; the tenant is `app.tenant` of the process."""
    provider = TracerProvider(resource=Resource.create({"service.name": service, "app.tenant": "acme"}))
    exporter = exporter or OTLPSpanExporter(
        endpoint=url + "/v1/traces", compression=Compression.Gzip,
        headers={"headroom-tenant-attribute": "app.tenant", "headroom-pool": "mock:mock", **headers})
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider


def call(port, count, **extra):
    refused = 0
    with OpenAI(api_key="none", base_url=f"http://127.0.0.1:{port}/v1", max_retries=0) as client:
        for _ in range(count):
            try:
                answer = client.chat.completions.create(model="mock", messages=MESSAGES, max_tokens=100, **extra)
                if extra.get("stream"):
                    for _ in answer:
                        pass
            except Exception:
                refused += 1
    return refused


def under(instrumentor, service, url, ports):
    """Calls a provider that serves and one that refuses under one instrumentation."""
    provider = provider_of(url, service)
    instrumentor.instrument(tracer_provider=provider)
    try:
        with trace.get_tracer("app", tracer_provider=provider).start_as_current_span("agent"):
            call(ports[0], CALLS)
            call(ports[0], 1, stream=True, stream_options={"include_usage": True})
            assert call(ports[1], 2) == 2
    finally:
        instrumentor.uninstrument()
        provider.shutdown()


def as_json(url, service):
    """The same exporter's spans in OTLP's JSON: ids in hexadecimal, 64-bit numbers as text."""
    kept = Kept()
    provider = provider_of(url, service, exporter=kept)
    tracer = trace.get_tracer("app", tracer_provider=provider)
    for _ in range(CALLS):
        with tracer.start_as_current_span("chat mock") as span:
            span.set_attributes({
                "gen_ai.operation.name": "chat", "gen_ai.provider.name": "mock", "gen_ai.request.model": "mock",
                "gen_ai.usage.input_tokens": mock_provider.INPUT_TOKENS,
                "gen_ai.usage.output_tokens": mock_provider.OUTPUT_TOKENS})
    with tracer.start_as_current_span("chat nobody") as span:
        span.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.request.model": "x", "headroom.pool": "no:such"})
    body = MessageToDict(encode_spans(kept.spans))
    for resource in body["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64decode(span[key]).hex()
    request = urllib.request.Request(
        url + "/v1/traces", json.dumps(body).encode(),
        {"Content-Type": "application/json", "Headroom-Tenant-Attribute": "app.tenant"})
    with urllib.request.urlopen(request) as answer:
        partial = json.load(answer)["partialSuccess"]
    assert partial["rejectedSpans"] == "1" and "no policy names" in partial["errorMessage"], partial


def stored(folder):
    """What Headroom stored, by service and outcome: calls, input and output tokens, and whether all have a latency."""
    with sqlite3.connect(f"file:{folder}/headroom.sqlite?mode=ro", uri=True) as database:
        rows = database.execute(
            "SELECT gateway.text, outcome, status, count(*), sum(input_tokens), sum(output_tokens), min(latency_ms) > 0 FROM call "
            "JOIN name AS gateway ON gateway.id = gateway_id JOIN name AS tenant ON tenant.id = tenant_id "
            "JOIN name AS pool ON pool.id = pool_id WHERE tenant.text = 'acme' AND pool.text = 'mock:mock' GROUP BY 1, 2, 3")
        return sorted(rows.fetchall())


def main():
    # OpenLLMetry leaves a wrapper behind that goes on to export to a provider which has ended.
    logging.disable(logging.WARNING)
    program = pathlib.Path(sys.argv[sys.argv.index("--headroom") + 1]).resolve()
    processes = trial.Processes(pathlib.Path(tempfile.mkdtemp(prefix="headroom-trial-")))
    try:
        ports = [trial.free_port(), trial.free_port()]
        # The second refuses everything.
        processes.start("provider", sys.executable, trial.HERE / "mock_provider.py", "--port", ports[0])
        processes.start("refusing", sys.executable, trial.HERE / "mock_provider.py", "--port", ports[1], "--rpm", 1)
        control = trial.Control(program, processes)
        control.start()
        for port in ports:
            trial.wait_for(f"http://127.0.0.1:{port}/stats")
        for instrumentor, service in (
            (OpenTelemetry(), "opentelemetry"), (OpenLLMetry(), "openllmetry"), (OpenInference(), "openinference"),
        ):
            under(instrumentor, service, control.url, ports)
        as_json(control.url, "json")
        found = stored(processes.folder)
        ok, quota, served = 0, 3, CALLS + 1
        expected = sorted(
            [(service, ok, None, served, mock_provider.INPUT_TOKENS * served, mock_provider.OUTPUT_TOKENS * served, 1)
             for service in ("opentelemetry", "openllmetry", "openinference")]
            + [(service, quota, 429, 2, None, None, 1) for service in ("opentelemetry", "openllmetry", "openinference")]
            + [("json", ok, None, CALLS, mock_provider.INPUT_TOKENS * CALLS, mock_provider.OUTPUT_TOKENS * CALLS, 1)], key=str)
        for row in found:
            print(row)
        good = sorted(found, key=str) == expected
        print("every call once, with its tokens and its outcome: " + ("yes" if good else f"NO, expected {expected}"))
        sys.exit(0 if good else 1)
    finally:
        processes.end_all()


if __name__ == "__main__":
    main()
