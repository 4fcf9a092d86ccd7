"""A small git repository that resembles a kernel's."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Repository:
    """A repository with one commit, an empty kernel; further commits are added one by one."""

    path: Path

    def git(self, *arguments):
        identity = ("-c", "user.name=Ann", "-c", "user.email=ann@localhost")
        command = ["git", "-C", str(self.path), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, subject, **files):
        for name, content in files.items():
            (self.path / name).write_text(content)
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD")

    def line(self, count):
        """Make `count` commits in a row; return all hashes, the first commit included."""
        return [self.git("rev-parse", "HEAD"), *(self.commit(f"change {i}", file=f"{i}\n") for i in range(1, count))]

    def state(self):
        """Everything that a bisection must leave unchanged."""
        return (
            self.git("status", "--porcelain"),
            self.git("rev-parse", "HEAD"),
            self.git("for-each-ref"),
            self.git("worktree", "list"),
            sorted(path.name for path in (self.path / ".git").glob("BISECT*")),
            (self.path / ".git/index").read_bytes(),
        )


def make_repository(path: Path, **files: str) -> Repository:
    """Make a repository with one commit of these files."""
    (path / "arch/um").mkdir(parents=True)
    (path / "arch/um/Kconfig").touch()
    made = Repository(path)
    made.git("init", "--quiet", "--initial-branch=main")
    made.commit("first", **files)
    return made
