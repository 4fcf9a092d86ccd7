"""What `wblab why` says first of random experiments is tried on them: without whom it names, the pause ends."""

import random
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.triedsentences import tried_random, tried_sentence

from wblab.kernels import built_kernels
from wblab.lab.specfile import read_spec

# The numbers that were tried when this was written, and those whose sentence contradicts a trial, with what that shows.
# The kernel, the lab and Python being the same, each gives the same again.
TRIED = (*range(60), *range(186, 262), *range(313, 488))
KNOWN = {
    18: "o1 had most in the queue; without it 1.94 of 2.03 s are left, as others fill that",
    30: "the load's own data took half of 0.62 s, and they do not without v0, which writes to another disk",
    130: "the load's own data took 0.47 of 0.75 s; without v0, which writes to another disk, nothing is left",
    174: "all that was ahead was o0's; without o0 1.67 of 1.73 s are left, and without o1 nothing",
    205: "most that was ahead was the load's own; without o1, which writes seconds before, nothing is left",
    364: "o2 had most in the queue; without it 16.0 of 18.8 s are left, and without both others 8.0 s",
}
# Cases whose sentence says what the load itself read, and a trial who made that slow: by the memory that it took.
KNOWN_CASES = ("eater",)
NEW, A_NIGHT = 500, 100
MOST_WRONG = 0.1  # of the sentences that name somebody
DAY = datetime.now(UTC).date().toordinal()


@pytest.mark.parametrize("place", range(5))
@pytest.mark.timeout(900)
def test_the_first_sentence_on_a_random_experiment_of_the_day_agrees_with_trials(place, lab):
    number = random.Random(DAY).sample([number for number in TRIED if number not in KNOWN], 5)[place]
    found = tried_random(number, built_kernels())
    print(f"random experiment {number}: {found}")
    assert found.finding != "contradicts", found
    assert lab.left_behind() == []


@pytest.mark.soak
@pytest.mark.timeout(4 * 3600)
def test_the_first_sentences_on_a_hundred_new_experiments_agree_with_trials():
    first = NEW + DAY * A_NIGHT
    found = [tried_random(number, built_kernels()) for number in range(first, first + A_NIGHT)]
    said = [one for one in found if one.finding in ("agrees", "partly", "contradicts")]
    wrong = [one for one in said if one.finding == "contradicts"]
    print(f"{len(wrong)} of {len(said)} sentences that name somebody contradict a trial", *wrong, sep="\n")
    assert len(wrong) <= MOST_WRONG * len(said)


# Specs with a known cause, made by somebody who had not read how causes are found. The first line of each is the truth.
@pytest.mark.soak
@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("cases/*.toml")), ids=lambda path: path.stem)
def test_no_sentence_on_a_spec_with_a_known_cause_contradicts_trials(path):
    found = tried_sentence(path.stem, read_spec(path), built_kernels())
    assert found.finding != "no run", found
    assert (found.finding == "contradicts") == (path.stem in KNOWN_CASES), found
