"""How a trial starts each gateway, alone and with Headroom."""

import pathlib
import secrets
import shutil
import sys

import trial

ADAPTERS = pathlib.Path(__file__).resolve().parent.parent

CUSTOM_AUTH = """
from litellm.proxy._types import UserAPIKeyAuth

async def check(request, api_key):
    return UserAPIKeyAuth(api_key=api_key, key_alias=api_key)
"""


class LiteLLM:
    """From PyPI, as it is. Its keys are tenants' names."""

    health = "/health/liveliness"

    def __init__(self, options, processes, provider, control):
        self.options, self.processes, self.provider, self.control = options, processes, provider, control

    def start(self, port):
        folder = self.processes.folder
        (folder / "trial_auth.py").write_text(CUSTOM_AUTH)
        settings = "  num_retries: 2\n"
        if self.control:
            shutil.copy(ADAPTERS / "headroom_litellm.py", folder)
            settings += "  callbacks: headroom_litellm.gateway\n"
        (folder / "config.yaml").write_text(
            "model_list:\n- model_name: mock\n"
            f"  litellm_params: {{model: openai/mock, api_base: 'http://127.0.0.1:{self.provider}/v1', api_key: none}}\n"
            "  model_info: {headroom_pool: 'mock:mock'}\n"
            f"litellm_settings:\n{settings}general_settings:\n  custom_auth: trial_auth.check\n")
        environment = {"LITELLM_MASTER_KEY": "sk-" + secrets.token_hex(32)}
        if self.control:
            environment.update(HEADROOM_URL=self.control.url, HEADROOM_GATEWAY="litellm")
        # Gunicorn's parent waits for workers that start slowly; uvicorn's ends them after five seconds.
        several = ["--run_gunicorn"] if self.options.workers > 1 else []
        self.processes.start(
            "litellm", pathlib.Path(sys.executable).parent / "litellm", "--config", "config.yaml", "--port", port, "--host",
            "127.0.0.1", "--num_workers", self.options.workers, *several, **environment)
        return port


class HAProxy:
    """From Debian, 2.6."""

    health = "/stats"

    def __init__(self, options, processes, provider, control):
        self.processes, self.provider, self.control = processes, provider, control

    def start(self, port):
        folder = self.processes.folder
        text = (ADAPTERS / "haproxy" / "haproxy.cfg").read_text().replace("openai:gpt-4o", "mock:mock")
        if self.control:
            shutil.copy(ADAPTERS / "haproxy" / "headroom.lua", folder)
            shutil.copy(ADAPTERS / "lua" / "headroom_gate.lua", folder)
        else:
            text = without(text, "lua", "headroom_denied")
        # What only asks the trial's provider how it fares is no call.
        text = text.replace("http-request lua.headroom_wait \"mock:mock\"", "http-request lua.headroom_wait \"mock:mock\" if METH_POST")
        (folder / "haproxy.cfg").write_text(text)
        self.processes.start(
            "haproxy", "haproxy", "-f", "haproxy.cfg", LISTEN=f"127.0.0.1:{port}", PROVIDER=f"127.0.0.1:{self.provider}",
            HEADROOM_URL=self.control.url if self.control else "", PWD=str(folder))
        return port


class Nginx:
    """From Debian, 1.22 with its Lua module."""

    health = "/stats"

    def __init__(self, options, processes, provider, control):
        self.options, self.processes, self.provider, self.control = options, processes, provider, control

    def start(self, port):
        folder = self.processes.folder
        text = (ADAPTERS / "nginx" / "nginx.conf").read_text().replace("openai:gpt-4o", "mock:mock")
        text = text.replace("127.0.0.1:8080", f"127.0.0.1:{port}").replace("127.0.0.1:9000", f"127.0.0.1:{self.provider}")
        text = text.replace("worker_processes 1", f"worker_processes {self.options.workers}")
        if self.control:
            shutil.copy(ADAPTERS / "nginx" / "headroom_nginx.lua", folder)
            shutil.copy(ADAPTERS / "lua" / "headroom_gate.lua", folder)
        else:
            text = without(text, "lua_", "by_lua")
        # As in haproxy.cfg: only calls wait.
        text = text.replace("location / {", "location /stats { proxy_pass http://127.0.0.1:%d; } location / {" % self.provider)
        (folder / "nginx.conf").write_text(text)
        self.processes.start(
            "nginx", "nginx", "-p", folder, "-c", folder / "nginx.conf", HEADROOM_URL=self.control.url if self.control else "")
        return port


class Checked:
    """A proxy that asks `headroom gate`, by a configuration file in which only addresses and the pool are put in."""

    health = "/stats"

    def __init__(self, options, processes, provider, control):
        self.options, self.processes, self.provider, self.control = options, processes, provider, control

    def configuration(self, path, port, *parts):
        text = (ADAPTERS / path).read_text().replace("openai:gpt-4o", "mock:mock")
        gate = trial.free_port()
        if self.control:
            program = pathlib.Path(self.options.headroom).resolve()
            self.processes.start(
                "gate", program, "gate", "--listen", f"127.0.0.1:{gate}", "--url", self.control.url, "--name", "gate")
            trial.wait_for(f"http://127.0.0.1:{gate}/healthz")
        for before, after in parts:
            text = text.replace(before.format(8080), after.format(port)).replace(before.format(9000), after.format(self.provider))
            text = text.replace(before.format(8421), after.format(gate))
        file = self.processes.folder / pathlib.Path(path).name
        file.write_text(text)
        return file


class NginxCheck(Checked):
    """From Debian, without any module: `auth_request`. Without Headroom its gate is away, so that all passes."""

    def start(self, port):
        file = self.configuration("nginx/nginx-check.conf", port, ("127.0.0.1:{}", "127.0.0.1:{}"))
        file.write_text(file.read_text().replace(
            "location / {", "location /stats { proxy_pass http://provider; } location / {", 1))
        self.processes.start("nginx", "nginx", "-p", self.processes.folder, "-c", file)
        return port


class Envoy(Checked):
    """From PyPI: `ext_authz`."""

    def start(self, port):
        file = self.configuration("envoy/envoy-check.yaml", port, ("port_value: {}", "port_value: {}"))
        self.processes.start(
            "envoy", pathlib.Path(sys.executable).parent / "envoy", "-c", file, "--use-dynamic-base-id", "--concurrency", "1")
        return port


def without(text, *words):
    """A configuration without the lines that have one of the words."""
    return "\n".join(
        line for line in text.splitlines() if "load_module" in line or not any(word in line for word in words)) + "\n"


GATEWAYS = {"envoy": Envoy, "haproxy": HAProxy, "litellm": LiteLLM, "nginx": Nginx, "nginx-check": NginxCheck}
