import { Ajv2020 } from "ajv/dist/2020.js";
import { checkOf } from "../../judge/check.ts";
import type { TestGroup, Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import { mustNameIgnored } from "../../judge/ignored-params.ts";
import {
  valueAt,
  choiceEvents,
  completionOf,
  contentOf,
  finishOf,
  givenCompletion,
  isCompletion,
  isRecord,
  listAt,
  parse,
  textAt,
} from "../../judge/read.ts";
import type { Answer } from "../../wire/answer.ts";
import { colours, plans, steps, toolSteps } from "./requests.ts";

const callsOf = (answer: Answer): readonly unknown[] => listAt(answer.json, "/choices/0/message/tool_calls");
const argumentsOf = (call: unknown): string => textAt(call, "/function/arguments") ?? "";

/** The calls of an answer that was not cut off. Another clause checks that it makes calls. */
function finishedCalls(context: Context, step: string): readonly unknown[] {
  const answer = context.answer(step);
  completionOf(answer);
  if (finishOf(answer) === "length") cannot(`"${step}" was cut off by max tokens`);
  return callsOf(answer).length > 0 ? callsOf(answer) : cannot(`"${step}" was answered without a call`);
}

const streamedCalls = ["forced call, streamed", "a streamed call cut off by max tokens"];

/** The arguments of each call of a stream, joined. None if the stream did not finish with `tool_calls`. */
function finishedArguments(answer: Answer): readonly string[] {
  if (finishOf(answer) !== "tool_calls") return [];
  const pieces = choiceEvents(answer, 0).flatMap((choice) => [...listAt(choice, "/delta/tool_calls")]);
  const joined = new Map<unknown, string>();
  for (const piece of pieces) {
    const index = valueAt(piece, "/index");
    joined.set(index, (joined.get(index) ?? "") + argumentsOf(piece));
  }
  return [...joined.values()];
}

const ajv = new Ajv2020({ strict: false, logger: false });
const isColours = ajv.compile(colours);

const checks: readonly Check[] = [
  checkOf(
    "TOOL-01",
    "Forces calls and reads finish_reason.",
    ["required call", "named call", "forced call, streamed"],
    (context) => {
      for (const step of ["required call", "named call"]) {
        const answer = context.answer(step);
        finishedCalls(context, step);
        must(
          finishOf(answer) === "tool_calls",
          answer,
          'finish_reason "tool_calls"',
          `finish_reason ${show(finishOf(answer))}`,
        );
      }
      const streamed = context.answer("forced call, streamed");
      must(
        ["tool_calls", "length"].includes(String(finishOf(streamed))),
        streamed,
        'finish_reason "tool_calls"',
        `finish_reason ${show(finishOf(streamed))}`,
      );
      return "tool_calls each time";
    },
  ),
  checkOf(
    "TOOL-02",
    "Offers tools with tool_choice none, while required makes a call.",
    ["no call", "required call"],
    (context) => {
      const answer = context.answer("no call");
      completionOf(answer);
      must(callsOf(answer).length === 0 && finishOf(answer) !== "tool_calls", answer, "no calls", answer.summary);
      return callsOf(context.answer("required call")).length > 0
        ? "no calls"
        : cannot("this service makes no calls at all");
    },
  ),
  checkOf("TOOL-03", "Asks with tool_choice required.", ["required call"], (context) => {
    const answer = context.answer("required call");
    completionOf(answer);
    if (finishOf(answer) !== "length") must(callsOf(answer).length > 0, answer, "a tool call", answer.summary);
    return `${finishedCalls(context, "required call").length} calls`;
  }),
  checkOf("TOOL-04", "Names the second of two functions.", ["named call"], (context) => {
    const odd = finishedCalls(context, "named call").find((call) => valueAt(call, "/function/name") !== "wash");
    must(odd === undefined, context.answer("named call"), "only calls of the function wash", `a call of ${show(odd)}`);
    return "wash";
  }),
  checkOf("TOOL-11", "Forces a function without parameters.", ["a call without arguments"], (context) => {
    for (const call of finishedCalls(context, "a call without arguments"))
      must(
        /^\s*\{\s*\}\s*$/.test(argumentsOf(call)),
        context.answer("a call without arguments"),
        "the arguments {}",
        `the arguments ${show(argumentsOf(call))}`,
      );
    return "{}";
  }),
  checkOf("TOOL-12", "Forces a call with parallel_tool_calls false.", ["one call at most"], (context) => {
    const calls = finishedCalls(context, "one call at most");
    must(calls.length === 1, context.answer("one call at most"), "one call", `${calls.length} calls`);
    return "one call";
  }),
  checkOf(
    "TOOL-13",
    "Validates the arguments of forced and strict calls, streamed and not.",
    ["required call", "named call", "a strict call", "forced call, streamed"],
    (context) => {
      const inStream = context.answer("forced call, streamed");
      for (const text of finishedArguments(inStream))
        must(
          isColours(parse(text)),
          inStream,
          "arguments that are valid against parameters",
          `the arguments ${show(text)}`,
        );
      return mustHoldArguments(context, "required call", "named call", "a strict call");
    },
    (context) => mustHoldArguments(context, "a strict call"),
  ),
  checkOf("TOOL-14", "Collects the ids of all calls of the run.", toolSteps, (context) => {
    const ids = toolSteps.flatMap((step) =>
      callsOf(context.answer(step)).map((call) => ({ id: valueAt(call, "/id"), step })),
    );
    const seen = new Set<unknown>();
    for (const { id, step } of ids) {
      must(
        typeof id === "string" && id !== "" && !seen.has(id),
        context.answer(step),
        "a call with an id of its own",
        `the id ${show(id)}`,
      );
      seen.add(id);
    }
    return seen.size > 1 ? `${seen.size} different ids` : cannot("there were not two calls");
  }),
  checkOf(
    "TOOL-15",
    "Reads the arguments of every finished call as JSON.",
    [...toolSteps, ...streamedCalls],
    (context) => {
      const joined = streamedCalls.flatMap((step) =>
        finishedArguments(context.answer(step)).map((text) => ({ step, text })),
      );
      for (const { step, text } of joined)
        must(
          isRecord(parse(text)),
          context.answer(step),
          "arguments that are a JSON object",
          `the arguments ${show(text)}`,
        );
      const calls = toolSteps.flatMap((step) =>
        finishOf(context.answer(step)) === "tool_calls"
          ? callsOf(context.answer(step)).map((call) => ({ call, step }))
          : [],
      );
      for (const { call, step } of calls)
        must(
          isRecord(parse(argumentsOf(call))),
          context.answer(step),
          "arguments that are a JSON object",
          `the arguments ${show(argumentsOf(call))}`,
        );
      const count = calls.length + joined.length;
      return count > 0 ? `${count} calls` : cannot("no choice finished with tool_calls");
    },
  ),
  checkOf(
    "TOOL-16",
    "Forces a call that is longer than max tokens allows, streamed and not.",
    ["a call cut off by max tokens", "a streamed call cut off by max tokens"],
    (context) => {
      const inStream = context.answer("a streamed call cut off by max tokens");
      givenCompletion(inStream);
      must(
        finishOf(inStream) === "length",
        inStream,
        'finish_reason "length"',
        `finish_reason ${show(finishOf(inStream))}`,
      );
      const answer = context.answer("a call cut off by max tokens");
      completionOf(answer);
      must(finishOf(answer) === "length", answer, 'finish_reason "length"', `finish_reason ${show(finishOf(answer))}`);
      must(contentOf(answer) === "", answer, "no content", `the content ${show(contentOf(answer))}`);
      must(callsOf(answer).length > 0, answer, "the tool call as far as it came", answer.summary);
      return `cut after ${show(argumentsOf(callsOf(answer)[0]))}`;
    },
  ),
  checkOf("TOOL-17", "Reads the name in every call.", toolSteps, (context) => {
    const names = toolSteps.flatMap((step) =>
      callsOf(context.answer(step)).map((call) => ({ name: valueAt(call, "/function/name"), step })),
    );
    const odd = names.find(({ name }) => !["paint", "wash", "ping"].includes(String(name)));
    must(
      odd === undefined,
      odd && context.answer(odd.step),
      "a function that was offered",
      `a call of ${show(odd?.name)}`,
    );
    return names.length > 0 ? `${names.length} calls` : cannot("no calls were made");
  }),
  checkOf(
    "TOOL-19",
    "Offers a function with a keyword that cannot be enforced.",
    ["a keyword in a free function"],
    (context) => {
      completionOf(context.answer("a keyword in a free function"));
      return "accepted";
    },
  ),
  checkOf(
    "TOOL-24",
    "Forces a function with a keyword that cannot be enforced.",
    ["a keyword in a forced function"],
    (context) => {
      const answer = context.answer("a keyword in a forced function");
      completionOf(answer);
      return mustNameIgnored(answer, "tools[0].function.parameters.properties.a.pattern");
    },
  ),
  checkOf("TOOL-20", "Sends a call back with its result.", ["a call and its result"], (context) => {
    completionOf(context.answer("a call and its result"));
    return show(contentOf(context.answer("a call and its result")));
  }),
  checkOf(
    "TOOL-21",
    "Offers tools without tool_choice, and compares the prompt with that of tool_choice none.",
    ["free choice", "plain"],
    (context) => {
      const answer = context.answer("free choice");
      completionOf(answer);
      return isCompletion(context.answer("plain")) ? "accepted" : "";
    },
  ),
  checkOf(
    "TOOL-22",
    "Sends the spelling of a call as a text to be repeated.",
    ["a call that is only spelled", "required call"],
    (context) => {
      const answer = context.answer("a call that is only spelled");
      completionOf(answer);
      must(callsOf(answer).length === 0, answer, "no call", answer.summary);
      must(
        contentOf(answer).includes("<tool_call>") || finishOf(answer) !== "tool_calls",
        answer,
        "text",
        answer.summary,
      );
      return callsOf(context.answer("required call")).length > 0
        ? show(contentOf(answer))
        : cannot("this service makes no calls at all");
    },
  ),
];

export const tool: TestGroup = { steps: [...plans.steps, ...steps], checks: [...plans.checks, ...checks] };

function mustHoldArguments(context: Context, ...steps: readonly string[]): string {
  for (const step of steps)
    for (const call of finishedCalls(context, step))
      must(
        isColours(parse(argumentsOf(call))),
        context.answer(step),
        "arguments that are valid against parameters",
        `the arguments ${show(argumentsOf(call))}`,
      );
  return "valid each time";
}
