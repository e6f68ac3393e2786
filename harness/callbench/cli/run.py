"""``callbench run`` and ``callbench record``: a system over a dataset, scored and reported."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from callbench.cli import output

if TYPE_CHECKING:
    from callbench.run.gates import Gates, Judged

# The enum itself stands in callbench.cassette, which takes longer to import than --help may.
Mode = Literal["replay", "record", "rerecord", "live"]

DatasetArgument = Annotated[str, typer.Argument(help="Bundled dataset by name, or a path.")]
Model = Annotated[str, typer.Option("--model", "-m", help="The model under test.")]
FunctionModel = Annotated[
    str | None, typer.Option("--function-model", help="Another model for stage 2.")
]
SystemName = Annotated[
    str,
    typer.Option(
        "--system",
        help="slot; stage1 or stage2 of it alone; fewshot; empty, copy (no model); "
        "or your own as package.module:Class.",
    ),
]
Shots = Annotated[
    int | None,
    typer.Option("--shots", min=0, help="Examples that --system fewshot shows.  [default: 3]"),
]
Cassette = Annotated[
    Path | None, typer.Option("--cassette", help="Recording to use instead of the usual file.")
]
Prompt = Annotated[
    Path | None, typer.Option("--prompt", help="Your slot prompt (Jinja) in place of ours.")
]
Config = Annotated[
    Path | None, typer.Option("--config", help="Model profiles; default ./callbench.toml.")
]
Lang = Annotated[str | None, typer.Option("--lang", help="Only cases in this language: en, zh.")]
Tag = Annotated[
    list[str] | None, typer.Option("--tag", help="Only cases with this tag (may be repeated).")
]
SkipTag = Annotated[
    list[str] | None, typer.Option("--skip-tag", help="No cases with this tag (may be repeated).")
]
Repeats = Annotated[
    int, typer.Option("--repeats", min=1, help="Answers per case, each with its own recording.")
]
Limit = Annotated[int | None, typer.Option("--limit", help="Only the first N cases.")]
FailUnder = Annotated[
    list[str] | None,
    typer.Option("--fail-under", help="Exit 1 when a rate is lower: slot_f1=0.8 (repeatable)."),
]
Baseline = Annotated[
    Path | None, typer.Option("--baseline", help="Run to hold against --max-regression.")
]
MaxRegression = Annotated[
    list[str] | None,
    typer.Option(
        "--max-regression",
        help="Exit 1 when a rate is lower than the baseline's by more than this, as far as the "
        "interval of the difference tells: exact=0.02 (repeatable).",
    ),
]
Impl = Annotated[
    str | None,
    typer.Option(
        "--impl",
        help="Score this implementation of the Slot, a command line or python:package.module, "
        "on the recordings.",
    ),
]
Repair = Annotated[bool, typer.Option("--repair", help="Also read replies that are almost JSON.")]
AskOptional = Annotated[bool, typer.Option("--ask-optional", help="Ask for optional slots too.")]
Concurrency = Annotated[int | None, typer.Option("--concurrency", min=1, help="Cases in flight.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Processes to replay with.")]
Deadline = Annotated[float, typer.Option("--deadline", min=0.001, help="Seconds per case.")]
Faults = Annotated[
    str | None,
    typer.Option(
        "--faults", help="Lay the faults of this file over the recorded answers; all: every kind."
    ),
]
Pace = Annotated[
    str | None,
    typer.Option(
        "--pace", help="Replay in time, real or 10x as fast, not at once.  [default: instant]"
    ),
]
Trace = Annotated[
    bool,
    typer.Option("--trace", help="Show what each call does, as it ends; keep it in trace.jsonl."),
]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Directory of the run; default reports/<run-id>.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def register(app: typer.Typer) -> None:
    """Add the verbs to the command."""
    app.command("run")(run)
    app.command("record")(record)


def run(
    dataset: DatasetArgument = "everyday",
    model: Model = "smollm2",
    function_model: FunctionModel = None,
    system: SystemName = "slot",
    shots: Shots = None,
    impl: Impl = None,
    mode: Annotated[
        Mode, typer.Option("--mode", help="replay answers from recordings only; the rest ask.")
    ] = "replay",
    cassette: Cassette = None,
    prompt: Prompt = None,
    config: Config = None,
    lang: Lang = None,
    tag: Tag = None,
    skip_tag: SkipTag = None,
    limit: Limit = None,
    repeats: Repeats = 1,
    repair: Repair = False,
    ask_optional: AskOptional = False,
    concurrency: Concurrency = None,
    jobs: Jobs = 1,
    deadline: Deadline = 300.0,
    trace: Trace = False,
    faults: Faults = None,
    pace: Pace = None,
    fail_under: FailUnder = None,
    baseline: Baseline = None,
    max_regression: MaxRegression = None,
    out: Out = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fill the slots of every case, score them, print a table, write a report.

    Without arguments: the bundled dataset on the bundled recordings; no key, no network.
    """
    from callbench.cassette.replay import read_pace
    from callbench.cassette.transport import Mode as CassetteMode
    from callbench.run.config import RunConfig
    from callbench.run.gates import gates_of

    given = RunConfig(
        dataset=dataset,
        model=model,
        function_model=function_model,
        system=system,
        shots=shots,
        mode=CassetteMode(mode),
        cassette=cassette,
        prompt=prompt,
        config=config,
        lang=lang,
        tags=tuple(tag or ()),
        skip_tags=tuple(skip_tag or ()),
        repeats=repeats,
        limit=limit,
        repair=repair,
        ask_optional=ask_optional,
        concurrency=concurrency,
        jobs=jobs,
        deadline=deadline,
        trace=trace,
        impl=impl,
        faults=faults,
        pace=None if pace is None else read_pace(pace),
        out=out,
    )
    gates = gates_of(fail_under or (), max_regression or (), baseline)
    _go(given, gates, json_=json_, quiet=quiet)


def record(
    again: Annotated[
        bool, typer.Option("--again", help="Record everything anew, not only what is missing.")
    ] = False,
    **given: Any,
) -> None:
    """Record a model's answers on a dataset, those that are missing; then score them.

    The same as ``run --mode record`` (``--again``: ``rerecord``).
    """
    run(mode="rerecord" if again else "record", **given)


def _takes_options_of_run(verb: Any) -> None:
    """Let ``record`` take what ``run`` takes but what is for replay; typer reads the signature."""
    own = inspect.signature(verb, eval_str=True).parameters.values()
    added = [one for one in own if one.kind is not inspect.Parameter.VAR_KEYWORD]
    taken = [
        one
        for one in inspect.signature(run, eval_str=True).parameters.values()
        if one.name not in ("mode", "impl", "faults", "pace", "jobs")
    ]
    verb.__signature__ = inspect.Signature([*taken, *added])
    verb.__annotations__ = {one.name: one.annotation for one in (*taken, *added)}


_takes_options_of_run(record)


def _go(config: Any, gates: Gates, *, json_: bool, quiet: bool) -> None:
    import asyncio

    from callbench.report.summary import Summary
    from callbench.report.write import write_report
    from callbench.run.execute import execute, run_baseline, selected
    from callbench.run.gates import beside, failure
    from callbench.run.opening import BASELINES

    if gates.baseline is not None:
        from callbench.errors import UsageError
        from callbench.report.joined import read_run, require_cases

        if config.faults is not None:
            raise UsageError(
                "--faults does not go with --baseline: its scores are not the model's.",
                remedy="faults.json tells what the faults changed.",
            )
        planned = selected(config)
        ids = (case.id for case in planned.cases)
        require_cases(read_run(gates.baseline), planned.sha256, ids)

    async def everything() -> tuple[Any, list[dict[str, Any]]]:
        silent = quiet or json_
        with output.progress(silent or config.trace) as advance:
            finished = await execute(config, advance, output.hush if silent else output.tell)
        baselines = []
        for name in BASELINES:
            summary = Summary(f"{name} (baseline)")
            async for case_record in run_baseline(name, selected(config).cases):
                summary.add(case_record)
            baselines.append(summary.as_dict())
        return finished, baselines

    finished, baselines = asyncio.run(everything())
    problem = finished.problem()
    if finished.miss is not None and problem is not None:
        raise beside(problem, None) if gates else problem
    document = write_report(
        finished.directory, baselines=baselines, prices=output.prices_of(finished.info)
    )
    judged = _judged(gates, document, finished.directory)
    if json_:
        told = output.run_object(document, finished.directory, finished.seconds)
        told |= output.faults_object(finished.faults)
        output.print_json(told | ({"gates": [one.as_dict() for one in judged]} if gates else {}))
    elif not quiet:
        output.print_report(document, finished.directory)
        if finished.faults is not None:
            output.print_faults(finished.faults)
        for one in judged:
            if one.result != "failed":
                typer.echo(f"gate {one.result}: {one.text}")
    if problem is not None:
        raise beside(problem, judged)
    failed, violated = failure(judged), finished.violated()
    if violated is not None:
        raise violated if failed is None else beside(violated, judged)
    if failed is not None:
        raise failed


def _judged(gates: Gates, document: dict[str, Any], directory: Path) -> list[Judged]:
    from callbench.run.gates import judge_regression, judge_value

    judged = [judge_value(gate, document["rows"][0]) for gate in gates.fail_under]
    if gates.baseline is not None:
        from callbench.report.comparison import Question, compare
        from callbench.report.comparison_tables import changed_text

        for gate in gates.max_regression:
            found = compare([gates.baseline, directory], Question(gate.metric))["models"][0]
            turned = changed_text(found["name"], found["changed"])
            judged.append(judge_regression(gate, found, turned))
    return judged
