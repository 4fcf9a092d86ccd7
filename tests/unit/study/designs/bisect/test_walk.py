"""The commits that a bisection walks, and its words."""

from dataclasses import asdict, replace

import pytest

from wblab.core.errors import InputError
from wblab.study.designs.bisect.repository import worktree
from wblab.study.designs.bisect.run import GitSession
from wblab.study.designs.bisect.search import PLAIN, Walk


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
