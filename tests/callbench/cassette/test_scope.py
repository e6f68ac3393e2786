"""Case scopes: ordinals and exchanges, each task and thread with its own."""

from __future__ import annotations

import asyncio
import threading

from callbench.cassette import Exchange, case_scope, current_scope
from callbench.cassette.interaction import case_label, repeat_of

EXCHANGE = Exchange("k", "a", 0, "live", 200, 5)


class TestOrdinals:
    def test_count_from_zero_per_key(self) -> None:
        with case_scope("a") as scope:
            assert [scope.take("k"), scope.take("k"), scope.take("other"), scope.take("k")] == [
                0,
                1,
                0,
                2,
            ]

    def test_what_is_given_back_is_taken_first(self) -> None:
        with case_scope("a") as scope:
            assert [scope.take("k") for _ in range(4)] == [0, 1, 2, 3]
            scope.give_back("k", 2)
            scope.give_back("k", 1)
            assert [scope.take("k") for _ in range(3)] == [1, 2, 4]

    def test_every_scope_counts_anew(self) -> None:
        for _ in range(2):
            with case_scope("a") as scope:
                assert scope.take("k") == 0

    def test_many_threads_in_one_scope_never_share_an_ordinal(self) -> None:
        taken: list[int] = []
        with case_scope("a") as scope:

            def work() -> None:
                taken.extend(scope.take("k") for _ in range(200))

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert sorted(taken) == list(range(800))


class TestCurrent:
    def test_outside_there_is_none(self) -> None:
        assert current_scope() is None
        with case_scope("a") as scope:
            assert current_scope() is scope
            with case_scope("b") as inner:
                assert current_scope() is inner
            assert current_scope() is scope
        assert current_scope() is None

    async def test_each_task_sees_its_own(self) -> None:
        """C6."""

        async def work(name: str) -> str:
            with case_scope(name):
                await asyncio.sleep(0)
                scope = current_scope()
                assert scope is not None
                return scope.case

        assert await asyncio.gather(*(work(str(n)) for n in range(10))) == [
            str(n) for n in range(10)
        ]

    async def test_tasks_and_threads_of_a_case_share_its_scope(self) -> None:
        with case_scope("a") as scope:
            async with asyncio.TaskGroup() as group:
                task = group.create_task(asyncio.to_thread(current_scope))
            assert task.result() is scope

    def test_another_thread_has_none(self) -> None:
        seen: list[object] = []
        with case_scope("a"):
            thread = threading.Thread(target=lambda: seen.append(current_scope()))
            thread.start()
            thread.join()
        assert seen == [None]


class TestLabel:
    def test_exchanges_are_kept_in_order(self) -> None:
        with case_scope("a") as scope:
            scope.add(EXCHANGE)
            assert scope.exchanges == (EXCHANGE,)

    def test_repeats_have_labels_of_their_own(self) -> None:
        """C10."""
        with case_scope("a") as first, case_scope("a", repeat=2) as third:
            assert first.case == "a"
            assert third.case == "a@repeat=2" == case_label("a", 2)
        assert [repeat_of(label) for label in ("a", "a@repeat=2", "b@x@repeat=2", "repeat=2")] == [
            "",
            "2",
            "2",
            "",
        ]
