"""Puts the Python gate behind an address, for `headroom conformance http://127.0.0.1:PORT/`.

    python3 Sources/Adapters/tests/serve_gate.py [PORT]

It listens on loopback alone, prints its address, and ends with Ctrl-C. It is an example of the adapter that a gate in another
language needs.
"""

import http.server
import json
import sys

from test_law import Player


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        lines = self.rfile.read(int(self.headers["Content-Length"])).splitlines()
        player = Player()
        answer = "".join(json.dumps(player.play(json.loads(line))) + "\n" for line in lines[1:]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
