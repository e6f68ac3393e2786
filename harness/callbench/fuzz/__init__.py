"""Differential fuzzing: on which inputs does an implementation differ from the reference?

| module | what |
| --- | --- |
| ``strategies`` | Hypothesis strategies for everything a Call framework reads; of use without the rest |
| ``inputs`` | batches of inputs for each operation: drawn by the strategies, or near to the suite's |
| ``edits`` | the small edits that make a batch of one draw |
| ``places`` | where and how two answers differ, which tells known differences from new ones |
| ``hunt`` | one operation: draw, let both answer, compare, shrink, go on |
| ``reduce`` | the last steps of shrinking, on the input itself |
| ``corpus`` | what was found, as cases that ``callbench conform --suite`` replays |
| ``run``, ``report`` | all operations, and what came of it |

Nothing here is imported by the command until a verb needs it, so that ``callbench --help`` stays fast.
"""
