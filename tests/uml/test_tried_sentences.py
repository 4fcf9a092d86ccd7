"""What `wblab why` says first of random experiments is tried on them: without whom it names, the pause ends."""

import random
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.triedsentences import tried_random, tried_sentence

from wblab.kernels import built_kernels
from wblab.lab.specfile import read_spec

# The numbers that were tried when this was written, and those of them whose sentence contradicts a trial, with why. The
# kernel, the lab and Python being the same, each gives the same again.
TRIED = 110
KNOWN = {
    18: "two programs write at once: without the one that had most in the queue, the other one fills it",
    30: "a pause of 0.6 s has three causes of 0.05 to 0.3 s, and the sentence lists them all",
    94: "a pause of 0.4 s: without the program that was ahead, another one takes its place in the queue",
    103: "the load's own data fill its group's limit, because programs outside keep the disk busy: both count",
}
# Cases whose sentence says what the load itself read, and a trial who made that slow: by the memory that it took.
KNOWN_CASES = ("eater",)
A_NIGHT = 100
MOST_WRONG = 0.1  # of the sentences that name somebody
DAY = datetime.now(UTC).date().toordinal()


@pytest.mark.parametrize("place", range(5))
@pytest.mark.timeout(900)
def test_the_first_sentence_on_a_random_experiment_of_the_day_agrees_with_trials(place, lab):
    number = random.Random(DAY).sample([number for number in range(TRIED) if number not in KNOWN], 5)[place]
    found = tried_random(number, built_kernels())
    print(f"random experiment {number}: {found}")
    assert found.finding != "contradicts", found
    assert lab.left_behind() == []


@pytest.mark.soak
@pytest.mark.timeout(4 * 3600)
def test_the_first_sentences_on_a_hundred_new_experiments_agree_with_trials():
    first = TRIED + DAY * A_NIGHT
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
