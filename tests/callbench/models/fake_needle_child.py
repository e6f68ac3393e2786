"""Stands for the process of the needle engine: same lines in and out, behavior by the query."""

import json
import os
import sys
import time

if sys.argv[1].endswith("broken.so"):
    print(json.dumps({"error": "cannot load"}), flush=True)
    sys.exit(1)
if sys.argv[1].endswith("silent.so"):
    sys.exit(1)
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    query = request["query"]
    if query == "crash":
        os._exit(139)
    if query == "hang":
        time.sleep(60)
    if query == "refuse":
        answer = {"error": "bad tools"}
    elif query == "nothing":
        answer = {"response": {"function_calls": [], "reasoning": "no tool fits"}}
    else:
        call = {"name": request["tools"][0]["name"], "arguments": {"echo": request}}
        doubted = query == "doubt"
        answer = {
            "response": {
                "function_calls": [] if doubted else [call],
                "suppressed_calls": [call] if doubted else [],
                "reasoning": "not sure",
            }
        }
        request["env"] = [os.environ.get(n) for n in ("NEEDLE_TELEMETRY", "DO_NOT_TRACK")]
        request["pid"] = os.getpid()
    print(json.dumps(answer), flush=True)
