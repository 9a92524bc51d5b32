"""Opens logs that `cargo evalsuite report --inspect-log` wrote with Inspect itself.

    pip install inspect_ai openapi-schema-validator pandas pyarrow
    python report/tests/tools/with_inspect.py DIRECTORY

DIRECTORY has the logs of a run: as JSON, as archives, or both. Ends with status 1 at the first thing that is wrong.
"""

import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import inspect_ai
from inspect_ai.analysis import evals_df, samples_df
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries
from openapi_schema_validator import OAS31Validator


def inspect(*arguments):
    done = subprocess.run(["inspect", "log", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def validator():
    document = json.loads(Path(inspect_ai.__file__).with_name("_view").joinpath("inspect-openapi.json").read_text())
    schema = {"$ref": "#/components/schemas/EvalLog", "components": document["components"]}
    return OAS31Validator(schema)


def content(file):
    """What has to be equal before and after a conversion, which orders samples anew and moves long texts to attachments."""
    fields = read_eval_log(str(file), resolve_attachments=True).model_dump(mode="json", exclude_none=True)
    fields["samples"].sort(key=lambda sample: (sample["id"], sample["epoch"]))
    for sample in fields["samples"]:
        del sample["attachments"]
    return {key: fields.get(key) for key in ("status", "eval", "plan", "results", "stats", "error", "samples", "reductions")}


def check(file, schema):
    whole = json.loads(inspect("dump", str(file)))
    errors = [f"{error.json_path}: {error.message}" for error in schema.iter_errors(whole)]
    assert not errors, errors[:5]
    if file.suffix == ".json":
        errors = [f"{error.json_path}: {error.message}" for error in schema.iter_errors(json.loads(file.read_text()))]
        assert not errors, errors[:5]
    header = json.loads(inspect("dump", "--header-only", str(file)))
    assert header.get("samples") is None and header["results"]["scores"], "the header"
    assert header["eval"]["viewer"]["task_samples_view"]["columns"], "the viewer's columns"

    log = read_eval_log(str(file))
    assert len(log.samples) == log.results.total_samples
    for summary in read_eval_log_sample_summaries(str(file)):
        sample = read_eval_log_sample(str(file), summary.id, summary.epoch)
        assert sample.uuid == summary.uuid and (summary.error is None) == (sample.error is None)
    with tempfile.TemporaryDirectory() as directory:
        other = "json" if file.suffix == ".eval" else "eval"
        inspect("convert", str(file), "--to", other, "--output-dir", directory)
        [converted] = Path(directory).glob(f"**/*.{other}")
        there, here = content(converted), content(file)
        assert not (different := [key for key in here if here[key] != there[key]]), f"{different} after the conversion"
        inspect("convert", str(converted), "--to", file.suffix[1:], "--output-dir", directory)
    return log


def main(directory):
    files = sorted(path for path in Path(directory).iterdir() if path.suffix in (".json", ".eval"))
    assert files, f"no logs in {directory}"
    schema = validator()
    logs = {file.name: check(file, schema) for file in files}

    listed = json.loads(inspect("list", "--json", "--log-dir", str(directory)))
    by_name = {Path(entry["name"]).name: entry for entry in listed}
    assert set(by_name) == set(logs), f"found {sorted(by_name)}"
    for name, log in logs.items():
        assert by_name[name]["task_id"] == log.eval.task_id, by_name[name]
    assert len(list_eval_logs(str(directory))) == len(files)

    frame = samples_df(str(directory))
    samples = sum(len(log.samples) for log in logs.values())
    assert len(frame) == samples, f"{len(frame)} of {samples} rows"
    for column in ("metadata_suite", "metadata_location", "metadata_outcome", "score_evalsuite"):
        assert column in frame.columns, f"{column} is not in {list(frame.columns)}"
    assert len(evals_df(str(directory))) == len(files)

    errors = sum(sample.error is not None for log in logs.values() for sample in log.samples)
    limits = sum(sample.limit is not None for log in logs.values() for sample in log.samples)
    print(f"inspect_ai {version('inspect_ai')}: {len(files)} logs, {samples} samples, {errors} errors, {limits} limits")


if __name__ == "__main__":
    main(sys.argv[1])
