import { clauseOf } from "../../contract/contract.ts";
import type { TestGroup, Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, doesNotApply, must, show, showHeader } from "../../judge/finding.ts";
import { valueAt, choiceEvents, completionOf, contentOf, isCompletion, textAt, usageOf } from "../../judge/read.ts";
import { hasFeature } from "../../requests/listed-model.ts";
import type { Answer } from "../../wire/answer.ts";
import { arrivalCheck, arrivalSteps } from "./arrival.ts";
import { earlyEndChecks, earlyEndSteps } from "./early-ends.ts";
import { steps } from "./requests.ts";
import type { Rule } from "./rule.ts";
import { rules } from "./rules.ts";
import { scriptedChecks, scriptedSteps } from "./scripted-engine.ts";
import { transcriptsOf } from "./transcript.ts";
import type { Transcript } from "./transcript.ts";

const reasoned = "one reasoning, whole and streamed";
const ordinary = ["stream", "stream of two choices", "stream without counts"];
const usedBy: Readonly<Record<string, readonly string[]>> = {
  "STRM-18": [...ordinary, "a late failure"],
  "STRM-38": [...ordinary, "stream of reasoning", "models"],
  "STRM-19": ["forced call, streamed"],
  "STRM-20": ["forced call, streamed"],
  "STRM-21": ["forced call, streamed"],
};

/** State machines of the contract, by the clause that reports the faults that no rule below covers. */
const machineOf: Readonly<Record<string, string>> = { "STRM-06": "stream", "STRM-07": "choice", "STRM-21": "call" };

const isOddAlone = (stream: Transcript): boolean => rules.every((rule) => rule.faultOf(stream) === undefined);

function machineFault(clause: string, stream: Transcript): string | undefined {
  const machine = machineOf[clause];
  const { violation } = machine === undefined ? { violation: undefined } : stream;
  if (violation === undefined || !violation.startsWith(`${machine} `)) return undefined;
  return isOddAlone(stream) ? `the machine of the contract says: ${violation}` : undefined;
}

function ruleCheck(rule: Rule): Check {
  const { clause, how, faultOf, common } = rule;
  const judgeWith =
    (fault: Rule["faultOf"]) =>
    (context: Context): string => {
      if (clause === "STRM-38" && !hasFeature(context, "reasoning"))
        doesNotApply("the model object does not list the feature `reasoning`");
      const streams = transcriptsOf(context);
      for (const stream of streams) {
        const found = fault(stream);
        must(found === undefined, stream.answer, clauseOf.get(clause)?.sentence ?? "", found ?? "");
      }
      mustHaveStreams(context, usedBy[clause] ?? ordinary);
      const shown = streams.filter((stream) => rule.shows(stream));
      return shown.length > 0 ? `${shown.length} streams` : cannot("no stream of the run shows it");
    };
  return {
    clause,
    how,
    uses: usedBy[clause] ?? ordinary,
    judge: judgeWith((stream) => faultOf(stream) ?? machineFault(clause, stream)),
    ...(common && { common: judgeWith(common) }),
  };
}

/** Ends the check as untestable if no stream came. */
function mustHaveStreams(context: Context, names: readonly string[]): void {
  const asked = names.filter((name) => name !== "models" && context.has(name)).map((name) => context.answer(name));
  const [first] = asked;
  if (asked.every((answer) => answer.mediaType !== "text/event-stream"))
    cannot(`there was no stream: ${first?.summary ?? "none was asked for"}`);
}

/** Demands that a fault, if the server found it, was reported by the status and not inside a stream. */
function mustFailBefore(answer: Answer): readonly string[] {
  if (answer.status !== undefined && answer.status >= 400) return [`${answer.name}: ${answer.status}`];
  const error = /"error"\s*:\s*\{/.exec(answer.text)?.[0];
  must(
    answer.status !== undefined && error === undefined,
    answer,
    "an HTTP error, because the stream has not begun",
    answer.summary,
  );
  return [];
}

/** The stream with one fault if it was sent, otherwise the one with several. */
const badStream = (context: Context): Answer =>
  context.wasSent("a bad stream")
    ? (context.answers("a bad stream")[1] ?? cannot("not sent"))
    : context.answer("several faults");

const requestedStreams = (context: Context): readonly Answer[] => ordinary.map((step) => context.answer(step));

const checks: readonly Check[] = [
  {
    clause: "STRM-01",
    how: "Reads the media type of streamed answers.",
    uses: ordinary,
    judge: mustBeStreams,
  },
  {
    clause: "STRM-02",
    how: "Reads the headers that keep caches and proxies away.",
    uses: ordinary,
    judge: (context) => {
      for (const answer of requestedStreams(context)) {
        if (answer.status !== 200) cannot(`"${answer.name}" was not answered: ${answer.summary}`);
        const words = (answer.header("cache-control") ?? "")
          .split(",")
          .map((word) => word.trim().toLowerCase())
          .toSorted();
        must(
          words.join() === "no-cache,no-transform",
          answer,
          "Cache-Control: no-cache, no-transform",
          showHeader(answer, "cache-control"),
        );
        must(
          answer.header("x-accel-buffering") === "no",
          answer,
          "X-Accel-Buffering: no",
          showHeader(answer, "x-accel-buffering"),
        );
      }
      return "both headers";
    },
  },
  {
    clause: "STRM-27",
    how: "Sends faults of key, schema, model and context with `stream: true`.",
    uses: [
      "AUTH-02 an unknown key",
      "several faults",
      "a bad stream",
      "MODL-12 an unknown id, streamed",
      "too long a prompt, streamed",
      "stream",
    ],
    judge: (context) => {
      const asked = ["AUTH-02 an unknown key", "MODL-12 an unknown id, streamed", "too long a prompt, streamed"];
      // Without a listed context window no prompt can be made that exceeds it.
      const sent = asked.filter((step) => context.has(step)).map((step) => context.answer(step));
      const seen = [...sent, badStream(context)].flatMap(mustFailBefore);
      if (seen.length === 0) cannot("no fault was found at all");
      return isCompletion(context.answer("stream")) ? seen.join("; ") : cannot("nothing was streamed");
    },
  },
  {
    clause: "STRM-35",
    how: "Joins the pieces of a stream and compares them with the whole answer. Runs of more levels do so with reasoning, too.",
    uses: ["plain", "stream", "the default effort", reasoned],
    judge: (context) => {
      if (context.wasSent(reasoned)) mustReasonAlike(context.answers(reasoned));
      const [plain, stream] = bothOf(context);
      must(
        contentOf(stream) === contentOf(plain),
        stream,
        `the text ${show(contentOf(plain))}`,
        `the text ${show(contentOf(stream))}`,
      );
      return show(contentOf(stream));
    },
  },
  {
    clause: "STRM-36",
    how: "Compares the counts and the price of a stream with those of the whole answer.",
    uses: ["plain", "stream", "the default effort"],
    judge: (context) => {
      const [plain, stream] = bothOf(context);
      const [first, second] = [plain, stream].map((one) =>
        valueAt(usageOf(one), "/prompt_tokens_details/cached_tokens"),
      );
      // Cached tokens may have another price.
      const money = first === second ? ["cost_usd"] : [];
      return mustCountAlike(plain, stream, [...counts, "completion_tokens_details/reasoning_tokens", ...money]);
    },
    common: (context) => mustCountAlike(...bothOf(context), counts),
  },
];

const counts = ["prompt_tokens", "completion_tokens", "total_tokens"];

function mustCountAlike(plain: Answer, stream: Answer, names: readonly string[]): string {
  for (const name of names) {
    const [wanted, found] = [valueAt(usageOf(plain), `/${name}`), valueAt(usageOf(stream), `/${name}`)];
    if (wanted === undefined) cannot(`"${plain.name}" has no usage.${name}`);
    must(found === wanted, stream, `usage.${name} ${show(wanted)}`, `usage.${name} ${show(found)}`);
  }
  return `${show(valueAt(usageOf(stream), "/total_tokens"))} tokens, both ways`;
}

function mustReasonAlike([whole, stream]: readonly Answer[]): void {
  if (!whole || !stream || !isCompletion(whole)) cannot(`"${reasoned}" was not answered`);
  completionOf(stream);
  const wanted = [textAt(whole.json, "/choices/0/message/reasoning") ?? "", contentOf(whole)];
  const pieces = choiceEvents(stream, 0).map((choice) => textAt(choice, "/delta/reasoning") ?? "");
  const found = [pieces.join(""), contentOf(stream)];
  must(
    found.join("|") === wanted.join("|"),
    stream,
    `the reasoning and text ${show(wanted)}`,
    `the reasoning and text ${show(found)}`,
  );
}

function bothOf(context: Context): readonly [plain: Answer, stream: Answer] {
  // The stream names the default effort. If that makes a difference, another clause is broken.
  const positiveControl = context.wasSent("the default effort") ? "the default effort" : "plain";
  const [plain, stream] = [context.answer(positiveControl), context.answer("stream")];
  if (!isCompletion(plain)) cannot(`"${positiveControl}" was not answered: ${plain.summary}`);
  completionOf(stream);
  return [plain, stream];
}

function mustBeStreams(context: Context): string {
  for (const answer of requestedStreams(context))
    must(
      answer.status === 200 && answer.mediaType === "text/event-stream",
      answer,
      "status 200 as text/event-stream",
      answer.summary,
    );
  return requestedStreams(context).every(isCompletion)
    ? `${ordinary.length} streams`
    : cannot("the streams hold no choices");
}

export const strm: TestGroup = {
  steps: [...steps, ...scriptedSteps, ...earlyEndSteps, ...arrivalSteps],
  checks: [...checks, ...rules.map(ruleCheck), ...scriptedChecks, ...earlyEndChecks, arrivalCheck],
};
