"""Twenty processes want one cache at once: one builds it, the others wait and have it.

``DATASET_RT_ROUNDS`` sets how often, see "By hand" in CONTRIBUTING.md.
"""

import json
import os
from pathlib import Path

import pytest
from children import start
from support import leftovers

BUILDERS = 20
ROUNDS = int(os.environ.get("DATASET_RT_ROUNDS", "3"))

BUILDER = """
runtime = drt.DatasetRuntime(num_workers=2)
reader = drt.ReaderConfig(seed=1, shuffle=False)
say("ready")
for line in sys.stdin:
    base, opens = json.loads(line)
    source = numbered(300, "wanted")
    if opens:
        opened = runtime.from_cache_sources(
            source, base, reader_config=reader, writer_config=QUIET
        )
        (outcome,) = opened.results
        state = opened.dataset.state_dict()
        assert len(list(opened.dataset)) == 300
    else:
        (outcome,) = runtime.write_cache(source, base, writer_config=QUIET)
        state = None
    say([told(outcome), source.iterations, state])
"""


@pytest.fixture(scope="module")
def builders():
    children = [start(BUILDER, errors=None) for _ in range(BUILDERS)]
    for child in children:
        assert child.stdout.readline() == '"ready"\n'
    yield children
    for child in children:
        with child:
            child.stdin.close()
    assert [child.returncode for child in children] == [0] * BUILDERS


@pytest.mark.parametrize("number", range(ROUNDS))
def test_one_of_twenty_builds_and_the_rest_have_it(tmp_path: Path, builders, number: int) -> None:
    # In one round everyone opens, in the next everyone writes, then they take turns.
    opens = [(True, False, child % 2 == 0)[number % 3] for child in range(BUILDERS)]
    for child, opening in zip(builders, opens, strict=True):
        print(json.dumps([str(tmp_path), opening]), file=child.stdin, flush=True)
    answers = [json.loads(child.stdout.readline()) for child in builders]

    built = [answer for answer in answers if answer[0]["status"] == "built"]
    assert len(built) == 1, [answer[0] for answer in answers]
    assert sum(iterations for _, iterations, _ in answers) == 1
    for opening, (outcome, iterations, _) in zip(opens, answers, strict=True):
        if iterations == 0 and opening:
            assert outcome["status"] == "reused"
        elif iterations == 0:
            assert (outcome["class"], outcome["path"]) == (
                "CacheExistsError",
                str(tmp_path / "wanted"),
            )
    states = {json.dumps(state) for _, _, state in answers if state is not None}
    assert len(states) == (1 if any(opens) else 0)
    assert [path.name for path in tmp_path.iterdir()] == ["wanted"]
    assert leftovers(tmp_path) == []
