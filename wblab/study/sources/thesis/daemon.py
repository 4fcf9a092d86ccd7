"""Claims on the thesis's daemon, tested with the lab's own: which processes it finds. A benchmark measures its cost."""

from wblab.analysis.statistics.decision import at_least
from wblab.core.errors import WblabError
from wblab.core.files import MOST_JSON_BYTES, parse_json, read_bytes
from wblab.core.rundir import agent_log
from wblab.study.sources.claim import Claim, Samples, Verdict, judge, over_seeds
from wblab.study.sources.sample import Sample

CASE = "device-daemon"
_LOG = agent_log("mitigate")


def throttled(sample: Sample) -> set[str]:
    """Return the names of the processes that the daemon throttled, from its output in the guest."""
    try:
        lines = read_bytes(sample.run.path / _LOG, MOST_JSON_BYTES).splitlines()
        events = [parse_json(line) for line in lines if line.startswith(b"{")]
        return {str(event["name"]) for event in events if event["action"] == "hold"}
    except (OSError, ValueError, KeyError) as error:
        raise WblabError(f"{sample.run.path / _LOG} is not what a daemon prints: {error}") from None


def found_share(sample: Sample) -> float:
    """Return, of all processes that are throttled or offenders, the share that are both, in per cent; 100: no error."""
    offenders = {item.name for item in sample.run.loads if item.load.role == "offender"}
    found = throttled(sample)
    return 100 * len(found & offenders) / len(found | offenders)


def check_found(samples: Samples) -> Verdict:
    """Judge whether the daemon throttles all offenders and nothing else."""
    shares = [found_share(sample) for sample in samples[CASE]]
    what = "processes both throttled and offenders / either"
    return judge(over_seeds(what, "%", shares), at_least(100), "both offenders and no other process", each=True)


def daemon_claims() -> list[Claim]:
    """Return the claims on the daemon."""
    says = "a daemon finds offenders by the bytes they write and moves them to the idle class"
    return [Claim("daemon-finds", says, "daemon, by wblab mitigate", (CASE,), check_found)]
