"""Judges the schemas of MaskBench with LLGuidance or XGrammar, and writes results in the form of `main.ts --out`.

    pip install llguidance xgrammar
    python judge_library.py llguidance --data FOLDER --out llguidance.jsonl

The verdicts are those of `judge-case.ts`, without `other order`. The vocabulary is the 256 bytes, so no model is needed.
An instance is accepted if the grammar accepts its text and allows the answer to end there.
"""

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Accepts = Callable[[str], bool]
Compile = Callable[[Any], Accepts]

end_token = 256
max_memory_bytes = 16 << 30


def open_llguidance() -> Compile:
    import llguidance

    tokenizer = llguidance.LLTokenizer("byte")

    def compile_schema(schema: Any) -> Accepts:
        matcher = llguidance.LLMatcher(tokenizer, json.dumps({"grammars": [{"json_schema": schema}]}))
        if matcher.is_error():
            raise ValueError(matcher.get_error())

        def accepts(text: str) -> bool:
            copy = matcher.deep_copy()
            tokens = list(text.encode())
            return copy.try_consume_tokens(tokens) == len(tokens) and copy.is_accepting()

        return accepts

    return compile_schema


def open_xgrammar(strict: bool) -> Compile:
    import xgrammar

    vocabulary = [bytes([byte]) for byte in range(256)] + [b"<end>"]
    info = xgrammar.TokenizerInfo(vocabulary, stop_token_ids=[end_token])
    compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def compile_schema(schema: Any) -> Accepts:
        # The two settings that MaskBench's own runner has.
        compiled = compiler.compile_json_schema(json.dumps(schema), any_whitespace=not strict, strict_mode=strict)

        def accepts(text: str) -> bool:
            matcher = xgrammar.GrammarMatcher(compiled)
            return matcher.accept_string(text) and matcher.accept_token(end_token)

        return accepts

    return compile_schema


libraries: dict[str, Callable[[], Compile]] = {
    "llguidance": open_llguidance,
    "xgrammar": lambda: open_xgrammar(strict=True),
    "xgrammar-compliant": lambda: open_xgrammar(strict=False),
}


def judge(path: str, compile_schema: Compile) -> dict[str, Any]:
    case = json.loads(Path(path).read_text())
    started = time.process_time()
    try:
        accepts = compile_schema(case["schema"])
    except Exception as error:
        # Each library has error classes of its own for a schema that it refuses.
        return {"verdict": "refused", "reason": str(error)[:300], "compileMs": milliseconds_since(started)}
    compile_ms = milliseconds_since(started)
    started = time.process_time()
    tests = case["tests"]
    wrong = [
        index
        for index, test in enumerate(tests)
        if accepts(json.dumps(test["data"], ensure_ascii=False)) != test["valid"]
    ]
    verdict = (
        "pass" if not wrong else "valid rejected" if all(tests[one]["valid"] for one in wrong) else "invalid accepted"
    )
    return {"verdict": verdict, "compileMs": compile_ms, "matchMs": milliseconds_since(started), "wrong": wrong}


def milliseconds_since(started: float) -> float:
    """The CPU time of this process since then."""
    return (time.process_time() - started) * 1000


def serve(library: str, connection: Any) -> None:
    """Judges each path that arrives. It runs in a process of its own, which a schema may crash or block."""
    resource.setrlimit(resource.RLIMIT_AS, (max_memory_bytes, max_memory_bytes))
    compile_schema = libraries[library]()
    connection.send("ready")
    while True:
        try:
            path = connection.recv()
        except EOFError:
            return
        connection.send(judge(path, compile_schema))


class JudgeProcess:
    """A process that judges. It is started again after a schema has ended it, or has taken too long."""

    def __init__(self, library: str, limit_seconds: int) -> None:
        self.library = library
        self.limit_seconds = limit_seconds
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(self.library, theirs), daemon=True)
        self.process.start()
        theirs.close()
        if self.connection.recv() != "ready":
            raise RuntimeError("the process that judges did not start")

    def judge(self, path: str) -> dict[str, Any]:
        self.connection.send(path)
        try:
            if self.connection.poll(self.limit_seconds):
                return self.connection.recv()
            failure = {"verdict": "late"}
        except (EOFError, ConnectionError):
            failure = {"verdict": "died"}
        self.process.kill()
        self.process.join()
        self.start()
        return failure


def data_set_of(name: str) -> str:
    return name.split("---")[0] if "---" in name else name.split("_")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=libraries)
    parser.add_argument("--data", required=True, type=Path, help="the folder with the benchmark's JSON files")
    parser.add_argument("--out", required=True, type=Path, help="one JSON result a line")
    parser.add_argument("--time-limit", type=int, default=60, help="for one schema and its instances, in seconds")
    flags = parser.parse_args()
    process = JudgeProcess(flags.library, flags.time_limit)
    paths = sorted(flags.data.glob("*.json"))
    with flags.out.open("w") as out:
        for count, path in enumerate(paths, 1):
            name = path.stem
            result = {"id": name, "dataSet": data_set_of(name), **process.judge(str(path))}
            out.write(json.dumps(result) + "\n")
            if count % 500 == 0:
                print(f"{count} of {len(paths)}", flush=True)


if __name__ == "__main__":
    main()
