"""The kernel of patterns under the name by which `cep.matching` and `cep.automata` know it."""

# ruff: noqa: F403

from cep.operators.patterns.kernel.alternatives import *
from cep.operators.patterns.kernel.bytecode import *
from cep.operators.patterns.kernel.capacity import *
from cep.operators.patterns.kernel.chains import *
from cep.operators.patterns.kernel.layout import *
from cep.operators.patterns.kernel.merge import *
from cep.operators.patterns.kernel.recall import *
from cep.operators.patterns.kernel.tables import *
from cep.operators.patterns.kernel.trace import *
from cep.operators.patterns.kernel.wait_index import *
