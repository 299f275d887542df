import { limit } from "../../contract/contract.ts";
import type { Check, Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import {
  valueAt,
  completionOf,
  finishOf,
  isCompletion,
  mustRefuse,
  numberAt,
  textAt,
  tokensOf,
} from "../../judge/read.ts";
import { chat } from "../../requests/chat-request.ts";
import type { Members } from "../../requests/chat-request.ts";
import { contextLength, hasFeature, lengthOr, modelObject } from "../../requests/listed-model.ts";
import { longText } from "../../requests/long-text.ts";
import { withoutReasoning } from "../../requests/reasoning-request.ts";
import type { Answer } from "../../wire/answer.ts";
import { instructed } from "./instructions.ts";

/** The longest allowed conversation: instructions, and turns that are all alike, so that its size can be computed. */
const mostMessages = 2048;

/** The instruction as a system message, which is sent anyway. If it was refused after the greeting, it comes first. */
const opening = (context: Context): readonly Members[] =>
  isOpeningSent(context) ? instructed("system") : instructed("system").toReversed();

/** Returns whether the instruction without further turns was answered. */
const isOpeningSent = (context: Context): boolean => {
  const sent = context.answers("developer, system, user")[1];
  return sent !== undefined && isCompletion(sent);
};

function talk(context: Context, turns: number): Members {
  const content = "tree ".repeat(wordsFor(context)).trim();
  const pair = [
    { role: "assistant", content },
    { role: "user", content },
  ];
  return {
    messages: [...opening(context), ...Array.from({ length: turns }, () => pair).flat()],
    ...withoutReasoning(context),
  };
}

/** The words per message that make the longest conversation exceed the context window, but mostly not twice the window. */
function wordsFor(context: Context): number {
  if (!canOverflow(context)) cannot("the context window is larger than the largest body");
  return wordsOf(contextLength(context));
}

const wordsOf = (length: number): number => Math.ceil((length / mostMessages) * 1.2);

/** Returns whether the listing has a context window, and a body has room for more than it holds. */
const canOverflow = (context: Context): boolean =>
  wordsOf(lengthOr(context, Number.POSITIVE_INFINITY)) * 5 * mostMessages <= limit("maxBodyBytes") * 0.9;

const longest = (mostMessages - 2) / 2;

/** The prompt tokens of the instruction and of a turn, from the answers with no turn and with one. */
function sizesOf(context: Context): { readonly first: number; readonly turn: number } {
  const [one, before] = context.answers("one turn");
  const none = before ?? context.answers("developer, system, user")[1];
  if (!none || !one) cannot("the short conversations were not answered");
  const first = tokensOf(none, "prompt_tokens");
  return { first, turn: tokensOf(one, "prompt_tokens") - first };
}

/** A conversation that leaves at least this number of tokens, and less than one turn more. */
function almostFull(context: Context, room = 20): Members {
  const { first, turn } = sizesOf(context);
  const turns = Math.floor((contextLength(context) - room - first) / turn);
  if (turns < 1 || turns > longest) cannot("no conversation fills this context");
  return talk(context, turns);
}

/** The turns of a conversation that is too long but still has to be counted exactly: the most possible, or fewer if that exceeds twice the context. */
function countedTurns(context: Context): number {
  const { first, turn } = sizesOf(context);
  const window = contextLength(context);
  return first + longest * turn <= 2 * window ? longest : Math.floor((1.5 * window - first) / turn);
}

/** A structured output that is longer than the room left, if the model supports it. Without it the model may end early. */
const longForm = (context: Context): Members =>
  hasFeature(context, "structured_outputs")
    ? { response_format: { type: "json_schema", json_schema: { name: "long", schema: { const: longText } } } }
    : {};

/** A model that is shown its schema reads the long form as well; two characters a token are more than any text has. */
const roomForLongForm = (context: Context): number =>
  hasFeature(context, "schema_in_prompt") ? 20 + longText.length / 2 : 20;

const overflow = { status: 400, code: "context_length_exceeded", param: "messages" };
const tooLong = ["too long a prompt", "too long a prompt, streamed"];
const overflows = (context: Context): readonly Answer[] => [...new Set(tooLong.map((step) => context.answer(step)))];

export const contextSteps: readonly Step[] = [
  {
    name: "a maximum above the model's",
    needs: ["models", "developer, system, user"],
    isValid: true,
    requests: (context) => [
      chat(context, {
        ...(canOverflow(context) ? talk(context, 1) : withoutReasoning(context)),
        max_completion_tokens: undefined,
        max_tokens: 100_000_000,
        stop: [" ", ".", "e", "a"],
      }),
    ],
  },
  {
    name: "one turn",
    needs: ["models", "developer, system, user", "a maximum above the model's"],
    isValid: true,
    coveredBy: (context) => {
      if (!isOpeningSent(context) || !canOverflow(context)) cannot("the conversation is another one");
      const answer = context.answer("a maximum above the model's");
      completionOf(answer);
      return answer.name;
    },
    requests: (context) =>
      (isOpeningSent(context) ? [1] : [1, 0]).map((turns) =>
        chat(context, { ...talk(context, turns), max_completion_tokens: 1 }),
      ),
  },
  {
    name: "too long a prompt, streamed",
    isRefused: true,
    needs: ["models", "developer, system, user"],
    isValid: true,
    requests: (context) => [chat(context, { ...talk(context, longest), stream: true })],
  },
  {
    name: "too long a prompt",
    isRefused: true,
    needs: ["models", "too long a prompt, streamed"],
    isValid: true,
    coveredBy: (context) => {
      const answer = context.answer("too long a prompt, streamed");
      mustRefuse(answer, overflow);
      return answer.name;
    },
    requests: (context) => [chat(context, talk(context, longest))],
  },
  {
    name: "too long a prompt, counted",
    isRefused: true,
    needs: ["models", "one turn", "too long a prompt"],
    isValid: true,
    coveredBy: (context) => {
      if (countedTurns(context) !== longest) cannot("the longest conversation is beyond twice the context");
      return context.answer("too long a prompt").name;
    },
    requests: (context) => [chat(context, talk(context, countedTurns(context)))],
  },
  {
    name: "a maximum beyond the context",
    needs: ["models", "one turn"],
    isValid: true,
    requests: (context) => {
      const maximum = Math.min(numberAt(modelObject(context), "/max_completion_tokens"), 16_384);
      return [
        chat(
          context,
          { ...almostFull(context), max_completion_tokens: maximum },
          { behaviour: { deadlineMs: 300_000 } },
        ),
      ];
    },
  },
  {
    name: "no maximum",
    needs: ["models", "one turn", "a maximum beyond the context"],
    isValid: true,
    requests: (context) => [
      chat(
        context,
        {
          ...almostFull(context, roomForLongForm(context)),
          max_completion_tokens: undefined,
          temperature: 2,
          ...longForm(context),
        },
        { behaviour: { deadlineMs: 300_000 } },
      ),
    ],
  },
];

/** @param size the computed tokens of the prompt. Beyond twice the context, the service may report any number from there up to this one. */
function mustHoldSizes(context: Context, answer: Answer, size: number): void {
  mustRefuse(answer, overflow);
  const window = contextLength(context);
  for (const [name, wanted] of Object.entries({ context_length: window, max_completion_tokens: 16 })) {
    const found = valueAt(answer.json, `/error/details/${name}`);
    must(found === wanted, answer, `error.details.${name} ${wanted}`, `error.details.${name} ${show(found)}`);
  }
  const told = valueAt(answer.json, "/error/details/prompt_tokens");
  const isCounted = told === size || (typeof told === "number" && told > 2 * window && told < size);
  const wanted = size > 2 * window ? `above ${2 * window}, and at most ${size}` : String(size);
  must(isCounted, answer, `error.details.prompt_tokens ${wanted}`, `error.details.prompt_tokens ${show(told)}`);
}

export const contextChecks: readonly Check[] = [
  {
    clause: "MSG-05",
    how: `Sends ${mostMessages} messages and expects no error about their number.`,
    uses: ["too long a prompt"],
    judge: (context) => {
      const answer = context.answer("too long a prompt");
      const isAboutSize = valueAt(answer.json, "/error/code") === overflow.code;
      must(answer.status === 200 || isAboutSize, answer, `status 200, or error.code ${overflow.code}`, answer.summary);
      return `${mostMessages} messages: ${answer.status}`;
    },
  },
  {
    clause: "MSG-23",
    how: "Sends a prompt that is longer than the context, streamed and not.",
    uses: [...tooLong, "plain"],
    cases: (context) => ({ tried: overflows(context).length, of: tooLong.length }),
    judge: (context) =>
      overflows(context)
        .map((answer) => mustRefuse(answer, overflow))
        .join("; "),
    common: (context) => {
      const answer = context.answer("too long a prompt");
      must(answer.status === 400, answer, "status 400", answer.summary);
      return "400";
    },
  },
  {
    clause: "MSG-24",
    how: "Reads the message of the error.",
    uses: ["too long a prompt"],
    judge: (context) =>
      mustUseTheWords(context, `maximum context length is ${contextLength(context)} tokens`, "prompt is too long"),
    common: (context) => mustUseTheWords(context, "maximum context length is "),
  },
  {
    clause: "MSG-25",
    how: "Compares the details of overflows with the model object, and with the sizes computed from a short conversation.",
    uses: [...tooLong, "too long a prompt, counted", "one turn"],
    judge: (context) => {
      const { first, turn } = sizesOf(context);
      const counted = first + countedTurns(context) * turn;
      mustHoldSizes(context, context.answer("too long a prompt, counted"), counted);
      for (const answer of overflows(context)) mustHoldSizes(context, answer, first + longest * turn);
      return `prompt_tokens ${counted}, as computed`;
    },
  },
  {
    clause: "MSG-26",
    how: "Fills the context window up to a few tokens and asks for the largest maximum.",
    uses: ["a maximum beyond the context"],
    judge: (context) => {
      const answer = context.answer("a maximum beyond the context");
      completionOf(answer);
      return mustFit(answer, contextLength(context));
    },
  },
  {
    clause: "MSG-27",
    how: "Fills the context window up to a few tokens and asks without a maximum, at the highest temperature.",
    uses: ["no maximum"],
    judge: (context) => {
      const answer = context.answer("no maximum");
      completionOf(answer);
      const seen = mustFit(answer, contextLength(context));
      if (finishOf(answer) !== "length" && tokensOf(answer, "completion_tokens") < 18)
        cannot(`the model ended by itself: ${seen}`);
      return seen;
    },
  },
];

function mustUseTheWords(context: Context, ...wanted: readonly string[]): string {
  const answer = context.answer("too long a prompt");
  const message = textAt(answer.json, "/error/message") ?? "";
  for (const words of wanted)
    must(message.includes(words), answer, `a message with "${words}"`, `the message ${show(message)}`);
  return message;
}

/** Demands that the answer took no more than the room left, and all of it if it finished with `length`. */
function mustFit(answer: Answer, length: number): string {
  const [prompt, written] = [tokensOf(answer, "prompt_tokens"), tokensOf(answer, "completion_tokens")];
  const left = length - prompt;
  must(written <= left, answer, `at most ${left} tokens`, `${written} tokens`);
  if (finishOf(answer) === "length")
    must(written === left, answer, `${left} tokens, since it finished with length`, `${written} tokens`);
  return `${prompt} + ${written} of ${length} tokens, ${show(finishOf(answer))}`;
}
