"""The mistakes of new users are answered with what to type."""

from __future__ import annotations

import ast
import shlex
from pathlib import Path

import pytest
from cep_command import cep

from cep.cli import failure

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RULES = """pack cards version "1"
stream payment { payment_id: string  at: timestamp  card_id: string  amount: double  id payment_id  time at }
rule big { severity high  on payment[amount > 100]  emit amount }
test big "a large one" { at 0s payment { amount: 200 }  expect at 0s {} }
"""
JOB = """[job]
name = "cards"
packs = "cards.rules"
state = "state/"
[feeds.payment]
source = "files"
path = "inbox/*.jsonl"
"""
PERCOLATE = "percolate --queries q.jsonl --documents d.jsonl --output -"
MISTAKES = {
    "test cards.rule": ("there is no file or folder `cards.rule`", "did you mean `cards.rules`?"),
    "test inbx": ("there is no file or folder `inbx`", "did you mean `inbox`?"),
    "test cards.rules:3": ("there is no file", "a path stands alone, without the line: `cards.rules`"),
    "test cards.rules big": ("there is no file", "tests are chosen by their rule or title: --run big"),
    "test job.toml": ("`job.toml` is no rule file", "this is a job file: it stands behind `--job`"),
    "test d.jsonl": ("`d.jsonl` is no rule file", "name a *.rules file, or a folder of them"),
    "test --job cards.rules": ("cards.rules is a rule file, and no job file", "did you mean job.toml?"),
    "test cards.rules --run small": ("no test fits --run 'small'", 'rules and title: big "a large one"'),
    "test cards.rules -k big": ("knows no `-k`", "tests are chosen by --run REGEX"),
    "deploy": ("required: PACK, --job", "cep deploy PACK --job job.toml"),
    "deploy cards.rules": ("required: --job", "cep deploy PACK --job job.toml"),
    "deploy job.toml --job job.toml": ("`job.toml` is no rule file", "name a *.rules file"),
    "deploy cards.rules --job cards.rules": ("no job file", "did you mean job.toml?"),
    "deploy card.rules --job job.toml": ("there is no file", "did you mean `cards.rules`?"),
    "explain": ("required: CODE|FUNCTION|RULE", "cep explain RULE PATH"),
    "explain cards.rules": ("`cards.rules` is a file: which rule?", "cep explain big cards.rules"),
    "explain cards.rules big": ("`cards.rules` is a file", "cep explain big cards.rules; its rules are big"),
    "explain avgg": ("there is no rule `avgg`", "did you mean `avg`?"),
    "explain function": ("there is no rule `function`", "did you mean `functions`?"),
    "fmt": ("required: PATH", "cep fmt PATH..."),
    "fmt job.toml": ("`job.toml` is no rule file", "name a *.rules file"),
    "fmt cards.rules --write": ("knows no `--write`", "leave it out: files are written"),
    "receive": ("a secret is missing", "name the variable that holds it: --secret-env NAME"),
    "receive --secret ''": ("--secret", "the variable is empty or not set"),
    "receive --secret '$SECRET'": ("--secret", "name the variable, without a dollar"),
    "receive --secret-file key.txt": ("key.txt", "make it, or correct the path"),
    "receive --secret x --port 8091": ("knows no `--port`", "an address is one word: --listen"),
    "receive --secret x --listen 127.0.0.1:99999": ("there is no port 99999", "ports go up to 65535"),
    "receive --secret GOOD --listen :0 --output inbox": ("inbox cannot be used", "name a file that can be"),
    "percolate q.jsonl d.jsonl": ("knows no `q.jsonl`", "--queries FILE --documents FILE"),
    "percolate --queries q.jsonl --documents d.jsonl": ("--output is missing", "--output FILE"),
    "percolate --queries 'fire AND smoke' --documents d.jsonl --output - --field body=text": (
        "there is no file", 'as a line of JSON: {"id": "q1", "query": "fire AND smoke"}',
    ),
    "percolate --queries cards.rules --documents d.jsonl --output - --field body=text": (
        "`cards.rules` holds no JSON lines", "name a file of documents or queries",
    ),
    "percolate --queries x.jsonl --documents d.jsonl --output - --field body=text": (
        "there is no file `x.jsonl`", "did you mean `d.jsonl`?",
    ),
    f"{PERCOLATE} --field body:text": ("a name and a type are needed", "write --field body=text"),
    f"{PERCOLATE} --field body": ("a name and a type are needed", "write --field 'body=text english'"),
    f"{PERCOLATE} --field body=string": ("'string' is none of", "`text` is searched by its words"),
    f"{PERCOLATE} --field n=long": ("'long' is none of", "write `number`"),
    f"{PERCOLATE} --field body=txet": ("'txet' is none of", "did you mean `text`?"),
    f"{PERCOLATE} --field body=text --default bod": ("bod is not declared", "did you mean `body`?"),
    f"{PERCOLATE} --field body=text --default title": ("title is not declared", "--field title=text"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cards.rules").write_text(RULES)
    (tmp_path / "job.toml").write_text(JOB)
    (tmp_path / "inbox").mkdir()
    (tmp_path / "q.jsonl").write_text('{"id": "q1", "query": "fire"}\n')
    (tmp_path / "d.jsonl").write_text('{"id": "d1", "fields": {"body": "fire"}}\n')
    return tmp_path


@pytest.mark.parametrize("command", MISTAKES)
def test_a_mistake_is_told_with_what_to_type(folder: Path, command: str) -> None:
    said, help_ = MISTAKES[command]
    secret = "whsec_" + "QUJD" * 8
    told = cep(*shlex.split(command.replace("GOOD", secret)), cwd=folder)
    assert told.code in (1, 2, 3)
    message, _, rest = told.err.partition("= help: ")
    assert "error" in message
    assert said in message
    assert help_ in rest


@pytest.mark.slow
def test_every_error_of_a_verb_says_what_helps() -> None:
    """No error is made with an empty help."""
    kinds = {name for name in vars(failure) if name.endswith("Error")} | {"error_text"}
    calls = [
        (file.name, call)
        for file in sorted((ROOT / "cep/cli").glob("*.py"))
        for call in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in kinds
    ]
    assert len(calls) > 50
    for name, call in calls:
        starred = any(isinstance(argument, ast.Starred) for argument in call.args)
        assert starred or len(call.args) + len(call.keywords) >= 2, f"{name}:{call.lineno}"
        empty = len(call.args) > 1 and isinstance(call.args[1], ast.Constant) and not call.args[1].value
        assert not empty, f"{name}:{call.lineno}"
