import os

from wblab.host.processor import claim_processor


def test_claimed_processors_are_distinct_and_freed_with_their_holder():
    ours = os.sched_getaffinity(0)
    claims = [claim_processor() for _ in range(len(ours) + 1)]
    try:
        claimed = [claim.processor for claim in claims if claim.processor is not None]
        assert len(set(claimed)) == len(claimed)
        assert set(claimed) <= ours
        assert claims[-1].processor is None
    finally:
        for claim in claims:
            claim.held.close()
    if claimed:
        again = claim_processor()
        assert again.processor in ours
        again.held.close()


def test_one_that_may_be_shared_is_had_in_any_case():
    ours = os.sched_getaffinity(0)
    claims = [claim_processor() for _ in ours]
    try:
        shared = claim_processor(shared=True)
        assert shared.processor in ours
        shared.held.close()
        alone = claim_processor()
        assert alone.processor is None
        alone.held.close()
    finally:
        for claim in claims:
            claim.held.close()
