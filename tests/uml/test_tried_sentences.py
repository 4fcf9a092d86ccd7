"""What `wblab why` says first of random experiments is tried on them: without whom it names, the pause ends."""

import random
from datetime import UTC, datetime

import pytest
from support.triedsentences import tried_sentence

from wblab.kernels import built_kernels

# The numbers that were all tried once; the kernel, the lab and Python being the same, each gives the same again.
TRIED = 500
A_NIGHT = 100
DAY = datetime.now(UTC).date().toordinal()


@pytest.mark.parametrize("place", range(5))
@pytest.mark.timeout(600)
def test_the_first_sentence_on_a_random_experiment_of_the_day_agrees_with_trials(place, monkeypatch, lab):
    numbers = [number for number in range(TRIED) if number not in KNOWN]
    number = random.Random(DAY).sample(numbers, 5)[place]
    found = tried_sentence(number, built_kernels())
    print(f"random experiment {number}: {found}")
    assert found.finding != "contradicts", found
    assert lab.left_behind() == []


@pytest.mark.soak
@pytest.mark.timeout(4 * 3600)
def test_the_first_sentences_on_a_hundred_new_experiments_agree_with_trials():
    first = TRIED + DAY * A_NIGHT
    found = [tried_sentence(number, built_kernels()) for number in range(first, first + A_NIGHT)]
    said = [one for one in found if one.finding in ("agrees", "contradicts")]
    wrong = [one for one in said if one.finding == "contradicts"]
    print(f"{len(wrong)} of {len(said)} sentences that name somebody contradict a trial", *wrong, sep="\n")
    assert len(wrong) <= MOST_WRONG * len(said)
