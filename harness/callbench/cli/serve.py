"""``callbench serve``: a cassette as an OpenAI-compatible endpoint on 127.0.0.1."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from callbench.cli import output
from callbench.cli.run import Json, Quiet

if TYPE_CHECKING:
    from callbench.cassette.faults.declared import Plan
    from callbench.cassette.store import Cassette
    from callbench.serve.answering import Answering


def register(parent: typer.Typer) -> None:
    """Add the verb to the command."""
    parent.command()(serve)


def serve(
    cassette: Annotated[Path, typer.Argument(help="The recording to answer from.")],
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: one that is free.")] = 0,
    by: Annotated[
        Literal["content", "turn"],
        typer.Option(
            "--by",
            help="content: what is asked must be what was recorded; turn: the n-th request of a "
            "case (header x-callbench-case, or /case/ID/v1) gets its n-th answer.",
        ),
    ] = "content",
    used_up: Annotated[
        Literal["miss", "loop", "last"],
        typer.Option("--used-up", help="What follows the last recording of a request or a case."),
    ] = "miss",
    faults: Annotated[
        str | None,
        typer.Option("--faults", help="Lay the faults of this file over the answers; all."),
    ] = None,
    pace: Annotated[
        str | None,
        typer.Option(
            "--pace", help="real: as recorded; 10x: ten times as fast.  [default: instant]"
        ),
    ] = None,
    grace: Annotated[
        float, typer.Option("--grace", min=0, help="Seconds that answers have at the end.")
    ] = 5.0,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 5 if a request had no recording.")
    ] = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Answer any client from a recording, as an OpenAI-compatible endpoint on 127.0.0.1.

    Prints its base URL on a line of its own, then serves until Ctrl-C (exit 130) or SIGTERM (143).
    """
    import asyncio

    from callbench.cassette.faults.applying import Faults
    from callbench.cassette.replay import read_pace
    from callbench.cassette.store import Cassette
    from callbench.errors import CassetteError, UsageError
    from callbench.run.scrubbing import scrubbing_of
    from callbench.serve.answering import Answering, By, UsedUp

    speed = None if pace is None else read_pace(pace)
    if not cassette.is_file():
        raise UsageError(
            f"There is no cassette {cassette}.", remedy="Give a *.cassette.jsonl file."
        )
    with Cassette.open(cassette, scrubbers=scrubbing_of(None)) as opened:
        plan = None if faults is None else _plan(faults, opened)
        answering = Answering(
            opened,
            by=By(by),
            used_up=UsedUp(used_up),
            faults=None if plan is None else Faults(plan),
        )

        def ready(url: str) -> None:
            if json_:
                told = {"url": url, "cassette": str(cassette), "recordings": len(opened), "by": by}
                if plan is not None:
                    told["faults"] = plan.public()
                output.print_json(told)
            else:
                typer.echo(url)
                import sys

                sys.stdout.flush()

        code = asyncio.run(_until_stopped(answering, port, speed, grace, ready))
        if not (json_ or quiet):
            output.tell(f"stopped: {answering.answers} answers, {answering.misses} misses")
        if strict and answering.misses:
            raise CassetteError(
                f"{answering.misses} requests had no recording in {cassette}.",
                remedy="Each was answered with 404 and what is nearest.",
            )
    raise output.Stopped(code)


async def _until_stopped(
    answering: Answering, port: int, pace: float | None, grace: float, ready: object
) -> int:
    """Serve until a signal comes; return the exit code it stands for."""
    import asyncio
    import signal

    from callbench.errors import ExitCode
    from callbench.serve.server import ReplayServer

    assert callable(ready)
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[int] = loop.create_future()

    task = asyncio.current_task()
    assert task is not None

    def stop(code: int) -> None:
        if stopped.done():  # asked twice: no more grace
            task.cancel()
        else:
            stopped.set_result(code)

    codes = {signal.SIGINT: ExitCode.INTERRUPTED, signal.SIGTERM: ExitCode.TERMINATED}
    for number, code in codes.items():
        loop.add_signal_handler(number, stop, int(code))
    server = ReplayServer(answering, pace=pace, grace=grace)
    try:
        ready(await server.start(port))
        return await stopped
    finally:
        await server.close()


def _plan(faults: str, cassette: Cassette) -> Plan:
    from callbench.cassette.faults.declared import load_plan
    from callbench.cassette.faults.matrix import ALL, matrix, stages_of
    from callbench.cassette.interaction import REPEAT_MARK

    cases = dict.fromkeys(one.case for one in cassette)
    if faults != ALL:
        return load_plan(faults, cases={one.partition(REPEAT_MARK)[0] for one in cases})
    return matrix(stages_of(cassette, cases))
