from wblab.live.runs.watch import Throughput, summary
from wblab.machine.storage import Traffic

S = 10**9


def test_rates_are_means_over_the_run_over_busy_time_and_of_the_best_second():
    samples = [(0, Traffic(0, 0, 0)), (S, Traffic(5, 10_000, S // 2)), (4 * S, Traffic(5, 16_000, S))]
    measured = summary(samples)
    assert measured is not None
    assert (measured.seconds, measured.busy_s) == (4.0, 1.0)
    assert (measured.read_bytes, measured.written_bytes) == (5, 16_000)
    assert measured.written_per_s == 4000
    assert measured.written_per_busy_s == 16_000
    assert measured.most_written_per_s == 10_000


def test_an_idle_device_and_too_few_samples():
    assert summary([]) is None
    assert summary([(0, Traffic(0, 0, 0))]) is None
    measured = summary([(0, Traffic(0, 0, 0)), (S, Traffic(0, 0, 0))])
    assert measured is not None
    assert measured.written_per_busy_s == 0


def test_without_a_device_there_is_a_note():
    throughput = Throughput(None)
    throughput.sample(0)
    assert throughput.to_json() is None
    assert throughput.notes == ["no throughput: the directory is not on a block device"]
