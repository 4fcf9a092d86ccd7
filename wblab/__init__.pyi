from wblab.api.compared import Comparison as Comparison
from wblab.api.compared import compare as compare
from wblab.api.explained import ExplainedPause as ExplainedPause
from wblab.api.explained import Why as Why
from wblab.api.layered import Layers as Layers
from wblab.api.making import run as run
from wblab.api.making import run_study as run_study
from wblab.api.opening import open as open  # noqa: A004 - as in gzip.open
from wblab.api.opening import read as read
from wblab.api.opening import runs as runs
from wblab.api.recorded import Run as Run
from wblab.api.recorded import Trace as Trace
from wblab.api.several import Exploration as Exploration
from wblab.api.several import Study as Study
from wblab.core.errors import InputError as InputError
from wblab.core.errors import WblabError as WblabError
from wblab.core.spec import Spec as Spec

__version__: str
