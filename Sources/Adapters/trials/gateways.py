"""How a trial starts each gateway, alone and with Headroom."""

import pathlib
import secrets
import shutil
import sys

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


GATEWAYS = {"litellm": LiteLLM}
