"""The search by git bisect, with known figures."""

from contextlib import contextmanager
from dataclasses import asdict, replace

import numpy as np
import pytest

from wblab.core.errors import InputError, WblabError
from wblab.kernels.choice import PatchError
from wblab.lab.progress import silent
from wblab.study.designs.bisect.bisection import PLAIN, BisectionSearch, Walk
from wblab.study.designs.bisect.repository import worktree
from wblab.study.designs.bisect.run import GitSession


class Figures:
    """Figures by commit, from a mean and a spread. A commit without a mean fails to build."""

    def __init__(self, means, spread=0.0, kernels=None):
        self.means, self.spread, self.kernels = means, spread, kernels or {}
        self.asked = {}

    def executable(self, commit, report):
        if self.means[commit] is None:
            raise WblabError("make failed")
        return self.kernels.get(commit, commit)

    def values(self, commit, seeds, report):
        self.asked[commit] = max(seeds, self.asked.get(commit, 0))
        random = np.random.default_rng(
            list(self.means).index(commit)
        )  # not from the hash, which depends on the time of day
        return (self.means[commit] + self.spread * random.standard_normal(100))[:seeds].tolist()


class Steps:
    def __init__(self):
        self.titles = []

    @contextmanager
    def __call__(self, title):
        self.titles.append(title)
        yield silent


def searched(repository, commits, figures, most=34, **bounds):
    good, bad = commits[0], commits[-1]
    search = BisectionSearch(figures, most, Steps(), **bounds)
    ends = search.ends(good, bad)
    assert ends.differ
    session = GitSession(repository.path, good, bad)
    search.run(session, ends)
    return search, session


@pytest.mark.parametrize("first", range(1, 9))
def test_the_first_bad_commit_is_found_anywhere(repository, first):
    commits = repository.line(9)
    figures = Figures({commit: 2.0 if place >= first else 1.0 for place, commit in enumerate(commits)})
    search, session = searched(repository, commits, figures)
    assert session.first_bad == commits[first]
    assert len(search.trials) <= 3
    assert set(figures.asked.values()) == {3}


def test_noisy_commits_get_more_runs(repository):
    commits = repository.line(5)
    figures = Figures({commit: 2.0 if place >= 3 else 1.0 for place, commit in enumerate(commits)}, spread=0.5)
    search, session = searched(repository, commits, figures)
    assert session.first_bad == commits[3]
    assert max(figures.asked.values()) > 3
    assert all(trial.verdict != "skip" for trial in search.trials)


def test_commits_inside_merges_are_found(repository):
    base = repository.git("rev-parse", "HEAD")
    main = [repository.commit(f"main {i}", file=f"{i}\n") for i in range(3)]
    repository.git("checkout", "--quiet", "-b", "side", base)
    side = [repository.commit(f"side {i}", other=f"{i}\n") for i in range(4)]
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "-m", "merge", "side")
    merge = repository.git("rev-parse", "HEAD")
    last = repository.commit("last", file="last\n")
    bad = {side[2], side[3], merge, last}
    figures = Figures({commit: 2.0 if commit in bad else 1.0 for commit in (base, *main, *side, merge, last)})
    _, session = searched(repository, [base, last], figures)
    assert session.first_bad == side[2]


def test_a_commit_that_fails_to_build_is_skipped(repository):
    commits = repository.line(9)
    means = {commit: 2.0 if place >= 6 else 1.0 for place, commit in enumerate(commits)}
    search, session = searched(repository, commits, Figures(means | {commits[4]: None}))
    assert session.first_bad == commits[6]
    skipped = [trial for trial in search.trials if trial.verdict == "skip"]
    assert [(trial.commit, trial.why) for trial in skipped] == [(commits[4], "make failed")]


def test_if_only_skipped_commits_remain_all_are_named(repository):
    commits = repository.line(5)
    means = dict.fromkeys(commits, None) | {commits[0]: 1.0, commits[-1]: 2.0}
    _, session = searched(repository, commits, Figures(means))
    assert session.first_bad is None
    assert set(session.possible) == set(commits[1:])


def test_a_long_stretch_that_cannot_be_tested_is_not_tried_to_its_end(repository):
    commits = repository.line(16)
    means = {commit: 2.0 if place >= 8 else 1.0 for place, commit in enumerate(commits)}
    found, session = searched(repository, commits, Figures(means | dict.fromkeys(commits[3:13], None)), most_skipped=3)
    assert [trial.verdict for trial in found.trials].count("skip") == 3
    assert session.first_bad is None
    assert set(session.possible) >= set(commits[3:14])
    assert session.possible == [commit for commit in commits if commit in session.possible]


def test_each_kind_of_obstacle_is_noted(repository):
    class Broken(Figures):
        def executable(self, commit, report):
            if commit == commits[1]:
                raise PatchError("sun.patch does not apply")
            return super().executable(commit, report)

        def values(self, commit, seeds, report):
            if commit == commits[2]:
                raise WblabError("no run")
            return super().values(commit, seeds, report)

    commits = repository.line(6)
    means = dict(zip(commits, (1.0, 1.0, 1.0, None, 1.5, 2.0), strict=True))
    search, _ = searched(repository, commits, Broken(means), most=3)
    found = {trial.commit: trial.obstacle for trial in search.trials}
    assert [found[commit] for commit in commits[1:5]] == ["patches", "run", "build", "undecided"]


def test_an_undecided_commit_is_skipped_after_all_seeds(repository):
    commits = repository.line(3)
    figures = Figures(dict(zip(commits, (1.0, 1.5, 2.0), strict=True)))
    search, session = searched(repository, commits, figures, most=8)
    assert [trial.why for trial in search.trials] == ["neither good nor bad after 8 seeds"]
    assert session.first_bad is None
    assert figures.asked[commits[0]] == 8  # the ends get as many runs as the commit


def test_an_identical_kernel_needs_no_runs(repository):
    commits = repository.line(5)
    figures = Figures(
        {commit: 2.0 if place >= 2 else 1.0 for place, commit in enumerate(commits)},
        kernels={commits[1]: commits[0], commits[2]: commits[4], commits[3]: commits[4]},
    )
    search, session = searched(repository, commits, figures)
    assert session.first_bad == commits[2]
    assert set(figures.asked) == {commits[0], commits[4]}
    assert search.trials[0].why == f"the same kernel as {commits[4][:12]}"


def test_titles_show_the_number_of_steps_left(repository):
    commits = repository.line(9)
    search, _ = searched(repository, commits, Figures({c: float(i > 5) for i, c in enumerate(commits)}))
    steps = [title.partition(", ")[2] for title in search.step.titles if "left" in title]
    assert steps == ["about 3 steps left", "about 2 steps left", "about 1 step left"]


def test_ends_without_a_difference_are_not_searched(repository):
    commits = repository.line(3)
    figures = Figures(dict.fromkeys(commits, 1.0))
    search = BisectionSearch(figures, 8, Steps())
    ends = search.ends(commits[0], commits[-1])
    assert not ends.differ
    assert figures.asked == {commits[0]: 8, commits[-1]: 8}


def test_ends_with_identical_kernels_are_not_run(repository):
    commits = repository.line(3)
    figures = Figures(dict.fromkeys(commits, 1.0), kernels=dict.fromkeys(commits, "same"))
    ends = BisectionSearch(figures, 8, Steps()).ends(commits[0], commits[-1])
    assert not ends.differ
    assert ends.found is None
    assert not figures.asked


@pytest.mark.parametrize(("place", "word"), [(0, "GOOD"), (-1, "BAD")])
def test_an_end_that_fails_to_build_is_an_error(repository, place, word):
    commits = repository.line(3)
    figures = Figures(dict.fromkeys(commits, 1.0) | {commits[place]: None})
    with pytest.raises(WblabError, match=f"{word}, {commits[place][:12]}, cannot be built: make failed"):
        BisectionSearch(figures, 8, Steps()).ends(commits[0], commits[-1])


def first(repository, report, walk, ends, is_new):
    """Return the first new commit and the commits that were tried."""
    (good, bad), tried = ends, []
    with worktree(repository.path, good, report) as made:
        session = GitSession(made.tree, good, bad, walk)
        for commit in iter(session.next, None):
            tried.append(commit)
            session.mark(commit, "bad" if is_new(commit) else "good")
        return session.first_bad, tried, session.log


def test_other_words_for_good_and_bad(repository, report):
    commits = repository.line(5)
    walk = Walk("slow", "fast")
    found, _, log = first(repository, report, walk, (commits[0], commits[4]), lambda one: commits.index(one) >= 3)
    assert found == commits[3]
    assert "git bisect start '--term-old=slow' '--term-new=fast'" in log
    assert [walk.word(verdict) for verdict in ("good", "bad", "skip")] == ["slow", "fast", "skip"]


def test_only_commits_that_touch_a_path_are_tried(repository, report):
    start = repository.git("rev-parse", "HEAD")
    commits = [repository.commit(f"change {n}", **{"mm" if n % 3 == 0 else "fs": f"{n}"}) for n in range(9)]
    changed = [commits[n] for n in (0, 3, 6)]
    found, tried, _ = first(
        repository, report, Walk(paths=("mm",)), (start, commits[8]), lambda one: commits.index(one) >= 3
    )
    assert found == commits[3]
    assert set(tried) <= set(changed)


def test_merges_are_followed_by_their_first_parent(repository, report):
    start = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "--quiet", "-b", "side")
    side = [repository.commit(f"side {n}", side=f"{n}") for n in range(4)]
    repository.git("checkout", "--quiet", "main")
    repository.commit("main 1", file="1")
    repository.git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    merge = repository.git("rev-parse", "HEAD")
    last = repository.commit("main 2", file="2")
    found, tried, _ = first(
        repository, report, Walk(first_parent=True), (start, last), lambda one: one in (merge, last)
    )
    assert found == merge
    assert not set(tried) & set(side)


@pytest.mark.parametrize(
    ("walk", "message"),
    [
        (Walk(old="skip"), "--term-old 'skip'"),
        (Walk(new="--bad"), "--term-new '--bad'"),
        (Walk("same", "same"), "are both 'same'"),
        (Walk(paths=("",)), "an empty path"),
    ],
)
def test_what_git_would_refuse_is_refused_first(walk, message):
    with pytest.raises(InputError, match=message):
        walk.check()


def test_a_walk_survives_its_record():
    for walk in (PLAIN, Walk("slow", "fast", True, ("mm", "fs/ext4"))):
        assert Walk.from_json(asdict(walk)) == walk
    with pytest.raises(InputError):
        Walk.from_json(asdict(replace(PLAIN, old="reset")))
