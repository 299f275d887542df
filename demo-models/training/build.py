"""One command from corpus to models: `python -m training.build --preset cpu`.

Stages: corpus → tokenizer → teacher → distil → export → evaluate. A stage that is finished in the work folder is not
repeated, and an interrupted training continues where it stopped.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import torch

from training.again import WITHIN, compare
from training.batches import make_steps
from training.byte_pairs import learn_merges
from training.caution import make_cautious
from training.chat import CONTROL_TOKENS, MARK_TOKENS, render_answer, render_prompt
from training.crosscheck import write_cases
from training.evaluate import evaluate_all, examine
from training.export import export_model
from training.hashes import write_hashes
from training.lessons.rounds import Corpus, teach_round
from training.model import Qwen3
from training.presets import PRESETS, VOCABULARY_SIZE, going_on, is_shipped, within
from training.report import write_report
from training.slopes import deterministic
from training.tokenizer import load_tokenizer, tokenizer_json, write_json
from training.train import Run
from training.untouched import Untouched, write_untouched

ROOT = Path(__file__).resolve().parent.parent
TEACHER, STUDENT, ALONE = "model-1", "model-1-mini", "model-1-mini-alone"
STAGES = ["corpus", "tokenizer", "teacher", "distil", "export", "evaluate"]
EXTRA = ["alone", "crosscheck", "report", "again", "untouched"]  # these run only when they are named


class Build:
    def __init__(self, preset, work, target):
        self.preset, self.work, self.target = preset, work, target
        self.corpus = Corpus()
        work.mkdir(parents=True, exist_ok=True)

    def show_corpus(self):
        lessons = list(teach_round(self.corpus, self.preset.seed, 0))
        print(f"{len(self.corpus.questions)} questions; a round has {len(lessons)} lessons")

    def learn_tokenizer(self):
        file = self.work / "merges.json"
        if file.exists():
            return
        if self.preset.start:
            known = json.loads((self.preset.start / TEACHER / "tokenizer.json").read_text(encoding="utf-8"))
            write_json(file, known["model"]["merges"])
            return
        count = VOCABULARY_SIZE - 256 - len(CONTROL_TOKENS) - len(MARK_TOKENS)
        lessons = [lesson for number in (0, 1) for lesson in teach_round(self.corpus, self.preset.seed, number)]
        texts = (
            render_prompt(lesson.messages, lesson.tools, lesson.thinking) + render_answer(lesson.answer, lesson.plan)
            for lesson in lessons
        )
        marks = CONTROL_TOKENS + MARK_TOKENS
        write_json(file, learn_merges((text_only(text, marks) for text in texts), count))

    @property
    def merges(self):
        return [tuple(pair) for pair in json.loads((self.work / "merges.json").read_text(encoding="utf-8"))]

    def tokenizer(self):
        file = self.work / "tokenizer.json"
        write_json(file, tokenizer_json(self.merges, VOCABULARY_SIZE))
        return load_tokenizer(file)

    def train(self, name, teacher=None, label=None):
        def make_round(number):
            return teach_round(self.corpus, self.preset.seed, number)

        plan = make_steps(make_round, self.tokenizer(), self.preset.schedules[label or name], self.preset.seed)
        run = Run(self.preset, name, plan, self.work, teacher, label)
        model = run.finish()
        tokens = sum(len(ids) for groups in plan[: run.step] for group in groups for ids, _ in group)
        facts = {
            "parameters": model.parameter_count(),
            "tokens": tokens,
            "steps": run.step,
            "seconds": round(run.seconds),
            "curve": run.curve,
        }
        write_json(self.work / f"{run.label}.json", facts)
        return model

    def export_one(self, name, folder):
        model = Qwen3(self.preset.shapes[name if is_shipped(name) else STUDENT])
        model.load_state_dict(torch.load(self.work / f"{name}.pt", weights_only=False)["model"])
        if self.preset.caution:
            make_cautious(model.eval(), self.tokenizer(), self.corpus, self.preset.seed, self.preset.caution)
        export_model(folder / name, name, model.shape, model.state_dict(), self.merges)

    def export(self):
        for name in (TEACHER, STUDENT):
            self.export_one(name, self.target)
        write_hashes(self.target, [TEACHER, STUDENT])

    def compare_evaluations(self):
        if self.target.resolve() == ROOT:
            raise SystemExit("again compares another training with this folder: name its place by --target")
        lines, far = compare(
            *((folder / "evaluation.md").read_text(encoding="utf-8") for folder in (ROOT, self.target))
        )
        print("\n".join(lines))
        if far:
            raise SystemExit(f"{len(far)} of {len(lines)} differ by more than {WITHIN:.0f} points")

    def run(self, stage):
        if stage == "corpus":
            self.show_corpus()
        if stage == "tokenizer":
            self.learn_tokenizer()
        if stage == "teacher":
            self.train(TEACHER)
        if stage == "distil":
            self.train(STUDENT, teacher=self.train(TEACHER))
        if stage == "alone":
            self.train(STUDENT, label=ALONE)
            self.export_one(ALONE, self.work)  # this model is only measured, not shipped
        if stage == "export":
            self.export()
        if stage == "evaluate":
            folders = [self.target / TEACHER, self.target / STUDENT, self.work / ALONE]
            evaluate_all([f for f in folders if f.exists()], self.corpus, self.preset, self.work, self.target)
        if stage == "report":
            results = json.loads((self.work / "results.json").read_text(encoding="utf-8"))
            write_report(results, self.work, self.target, self.preset.start is not None)
        if stage == "again":
            self.compare_evaluations()
        if stage == "untouched":
            untouched = Untouched(self.corpus, self.preset.seed)
            lessons = list(untouched.lessons())
            write_untouched(
                untouched, {name: examine(self.target / name, lessons) for name in (TEACHER, STUDENT)}, self.target
            )
        if stage == "crosscheck":
            write_cases(
                [self.target / TEACHER, self.target / STUDENT], self.corpus, self.preset, self.work / "cases.json"
            )


def text_only(text, marks):
    """Removes the template's tokens, so that no byte pairs are learned from their letters."""
    for mark in marks:
        text = text.replace(mark, "")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "stages", nargs="*", choices=[*STAGES, *EXTRA, []], help="all up to evaluate when none is named"
    )
    parser.add_argument("--preset", choices=PRESETS, default="cpu")
    parser.add_argument("--work", type=Path, default=ROOT / ".parley", help="checkpoints; never committed")
    parser.add_argument("--target", type=Path, default=ROOT, help="where the models are written")
    parser.add_argument("--threads", type=int, help="instead of the preset's; one is best beside other work")
    parser.add_argument(
        "--minutes", type=float, help="both trainings together end after so long, with the best use of that time"
    )
    parser.add_argument("--products", choices=["bfloat16", "float32"], help="float32 where bfloat16 is slow")
    parser.add_argument(
        "--start", type=Path, help="a folder with both models: train them further, with their tokenizer"
    )
    parser.add_argument(
        "--caution", type=float, default=0, metavar="NATS", help="what the first token of a call loses at the export"
    )
    options = parser.parse_args()
    preset = PRESETS[options.preset]
    if options.products:
        preset = replace(preset, products=options.products)
    preset = replace(preset, caution=options.caution)
    if options.start:
        preset = going_on(preset, options.start)
    if options.minutes:
        preset = within(preset, options.minutes)
    if options.threads:
        preset = replace(preset, threads=options.threads)
    torch.set_num_threads(preset.threads)
    deterministic()
    build = Build(preset, options.work / options.preset, options.target)
    for stage in options.stages or STAGES:
        started = time.monotonic()
        build.run(stage)
        print(f"{stage}: {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
