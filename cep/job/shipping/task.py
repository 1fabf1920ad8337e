"""Properties of a batch's tasks: the driver sends them before the action, and each task asks for them."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from cep.job.shipping import declared
from cep.job.state_folder.manifest import Manifest, parse

if TYPE_CHECKING:
    from pyspark import SparkContext

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Task:
    """A task as its worker sees it; `partition` is its number in the stage.

    `name` is one that no other task of this run of the program has. `careful`: it is to look for events that
    end its process.
    """

    manifest: Manifest
    careful: bool
    name: str
    partition: int


def send(context: SparkContext, manifest: Manifest, careful: bool) -> None:
    """Send a manifest with the tasks of the next action, and no other's. Raises ConfigurationError."""
    text = manifest.text()
    declared.MANIFEST.check(len(text.encode()), f"of batch {manifest.batch}")
    context.setLocalProperty(declared.MANIFEST.place, text)
    context.setLocalProperty(declared.CAREFUL.place, "yes" if careful else "")


def current() -> Task:
    """The task that this process works on. Raises ConfigurationError where it was sent no manifest."""
    from pyspark import TaskContext

    context = TaskContext.get()
    text = context.getLocalProperty(declared.MANIFEST.place) if context else None
    if not context or not text:
        raise declared.MANIFEST.not_there("Spark gave a task of the batch no manifest")
    careful = bool(context.getLocalProperty(declared.CAREFUL.place))
    return Task(parse(text), careful, str(context.taskAttemptId()), context.partitionId())


def pickled(thing: declared.Shipped, value: T) -> T:
    """The value, small enough to be pickled with the query's plan. Raises ConfigurationError."""
    thing.check(len(pickle.dumps(value)), "of the query")
    return value
