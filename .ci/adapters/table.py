"""Prints the results of trials, a line of JSON each on standard input, as a table in Markdown.

    python3 .ci/adapters/trial.py nginx --headroom … | python3 .ci/adapters/table.py

`.ci/try-adapters table` runs all programs.
"""

import json
import sys

from trial import PROVIDER_CALLS

#: Calls that pass because a gate is away are nobody's; in the other phases gamma has what acme and beta leave.
PHASES = {"normal": "as agreed", "halved": "halved", "killed": "Headroom killed", "gateless": "gate killed", "after": "gate back"}


def main():
    print("| program, workers | | acme, beta served | refused by the provider | gamma of what is left | p95 of acme, s |")
    print("|---|---|---|---|---|---|")
    for line in sys.stdin:
        result = json.loads(line)
        for name, title in PHASES.items():
            phase = result["phases"].get(name)
            if phase is None:
                continue
            served, offered = (sum(phase[tenant][key] for tenant in ("acme", "beta")) for key in ("served", "offered"))
            provider = phase["provider"]
            attempts = provider["served"] + provider["refused"]
            rate = PROVIDER_CALLS * (0.5 if name == "halved" else 1)
            gamma = (provider["served"] - served) / max(1, rate * phase["seconds"] - served)
            print(
                f"| {result['program']}, {result['workers']} | {title} | {served} of {offered} | {provider['refused']} of {attempts} "
                f"| {gamma:.2f} | {phase['acme']['p95']:.2f} |", flush=True)


main()
