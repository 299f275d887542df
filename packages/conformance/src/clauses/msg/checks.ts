import type { TestGroup, Check } from "../../judge/check.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import {
  completionOf,
  contentOf,
  givenCompletion,
  listAt,
  mustRefuse,
  numberAt,
  textAt,
  tokensOf,
} from "../../judge/read.ts";
import type { Answer } from "../../wire/answer.ts";
import { contextChecks, contextSteps } from "./context-window.ts";
import { conversationChecks } from "./conversation.ts";
import { specialTokens } from "./instructions.ts";
import { plans, steps } from "./requests.ts";

/** A special token counts as one token. Its spelling, read as text, counts as several; or the request is refused. */
function mustCountAsText(spelled: Answer | undefined, lookalike: Answer | undefined): string {
  if (!spelled || !lookalike) cannot("not answered");
  if (spelled.status === 400) return mustRefuseAt(/^messages\[\d+\]\./, spelled, lookalike);
  completionOf(spelled);
  givenCompletion(lookalike);
  const [count, wanted] = [tokensOf(spelled, "prompt_tokens"), tokensOf(lookalike, "prompt_tokens")];
  must(
    count >= wanted * 0.72,
    spelled,
    `about ${wanted} prompt tokens, as for a text that looks alike`,
    `${count} prompt tokens`,
  );
  return `${count} prompt tokens, ${wanted} for a text that looks alike`;
}

function mustRefuseAt(place: RegExp, spelled: Answer, lookalike: Answer): string {
  givenCompletion(lookalike);
  const param = textAt(spelled.json, "/error/param");
  must(
    param !== undefined && place.test(param),
    spelled,
    "an error.param that names the place",
    `error.param ${show(param)}`,
  );
  return mustRefuse(spelled, { status: 400, code: "invalid_value" });
}

function mustCountAlike([whole, parts]: readonly Answer[]): void {
  if (!whole || !parts) cannot("not answered");
  givenCompletion(whole);
  completionOf(parts);
  const [count, wanted] = [tokensOf(parts, "prompt_tokens"), tokensOf(whole, "prompt_tokens")];
  must(count === wanted, parts, `${wanted} prompt tokens`, `${count} prompt tokens`);
}

interface Trace {
  readonly text: string;
  /** The log probability of the whole text in nats; undefined where the service gave none. */
  readonly logprob: number | undefined;
}

function traceOf(answer: Answer): Trace {
  const tokens = listAt(answer.json, "/choices/0/logprobs/content");
  const logprob = tokens.reduce((sum: number, token) => sum + numberAt(token, "/logprob"), 0);
  return {
    text: `${tokensOf(answer, "prompt_tokens")} prompt tokens and ${show(contentOf(answer))}`,
    logprob: tokens.length === 0 ? undefined : logprob,
  };
}

/** The difference between the log probabilities of the same text, in nats; 0 if one is missing. */
const distance = (one: Trace, other: Trace): number =>
  one.logprob === undefined || other.logprob === undefined ? 0 : Math.abs(one.logprob - other.logprob);

/** A smaller difference may come from rounding: the last bits depend on the batch that an engine computes together. */
const leastDistance = 0.1;

const checks: readonly Check[] = [
  {
    clause: "MSG-30",
    how: "Lets the engine refuse a conversation as a chat template does.",
    uses: ["a conversation that the template refuses", "plain"],
    judge: (context) =>
      mustRefuse(context.answer("a conversation that the template refuses"), {
        status: 400,
        code: "invalid_value",
        param: "messages",
      }),
    common: (context) => {
      const answer = context.answer("a conversation that the template refuses");
      must(answer.status === 400 || answer.status === 422, answer, "status 400", answer.summary);
      return `status ${answer.status}`;
    },
  },
  {
    clause: "MSG-07",
    how: "Sends the plain question word by word as parts, and compares the count of the prompt, and the text. Runs of more levels do so with a message of the assistant, too.",
    uses: ["plain", "parts", "parts of an assistant"],
    judge: (context) => {
      if (context.wasSent("parts of an assistant")) mustCountAlike(context.answers("parts of an assistant"));
      const [whole, parts] = [context.answer("plain"), context.answer("parts")];
      mustCountAlike([whole, parts]);
      const isGreedy = context.profile.capabilities?.includes("greedy") === true;
      if (isGreedy && parts.name === "parts")
        must(
          contentOf(parts) === contentOf(whole),
          parts,
          `the text ${show(contentOf(whole))}`,
          `the text ${show(contentOf(parts))}`,
        );
      return `${tokensOf(parts, "prompt_tokens")} prompt tokens, both ways`;
    },
  },
  {
    clause: "MSG-20",
    how: "Sends one conversation with instructions as developer, as system and as user, and compares the answers; where they are alike, also their log probabilities.",
    uses: ["developer, system, user"],
    judge: (context) => {
      const [developer, system, user] = context.answers("developer, system, user");
      if (!developer || !system || !user) cannot("not answered");
      completionOf(developer);
      givenCompletion(system);
      const [asDeveloper, asSystem, asUser] = [traceOf(developer), traceOf(system), traceOf(user)];
      if (asSystem.text !== asUser.text) {
        must(asDeveloper.text === asSystem.text, developer, asSystem.text, asDeveloper.text);
        return `developer and system: ${asSystem.text}; user: ${asUser.text}`;
      }
      const apart = distance(asSystem, asUser);
      if (apart < leastDistance)
        cannot("this model answers a system message like a user message, so that the roles cannot be distinguished");
      must(asDeveloper.text === asSystem.text, developer, asSystem.text, asDeveloper.text);
      const seen = `the same text as system; log probability ${distance(asSystem, asDeveloper).toFixed(2)} off, as user ${apart.toFixed(2)}`;
      must(
        distance(asSystem, asDeveloper) < apart / 2,
        developer,
        "the log probability that a system message gives",
        seen,
      );
      return seen;
    },
  },
  {
    clause: "MSG-21",
    how: "Spells special tokens in a message, and compares the count of the prompt with that of a text that looks alike.",
    uses: ["special tokens", "developer, system, user", "each special token"],
    cases: ({ profile }) => ({
      tried: profile.isExhaustive ? specialTokens.length + 1 : 1,
      of: specialTokens.length + 1,
    }),
    judge: (context) => {
      const [spelled, lookalike] = [context.answer("special tokens"), context.answers("developer, system, user")[2]];
      const seen = [mustCountAsText(spelled, lookalike)];
      if (context.profile.isExhaustive) {
        const answers = context.answers("each special token");
        for (const index of specialTokens.keys())
          seen.push(mustCountAsText(answers[index], answers[index + specialTokens.length]));
      }
      return seen.join("; ");
    },
  },
  {
    clause: "MSG-22",
    how: "Spells special tokens in the arguments of an earlier call, and compares the count of the prompt likewise.",
    uses: ["special tokens in arguments", "models"],
    judge: (context) => {
      const [spelled, lookalike] = context.answers("special tokens in arguments");
      return mustCountAsText(spelled, lookalike);
    },
  },
];

export const msg: TestGroup = {
  steps: [...plans.steps, ...steps, ...contextSteps],
  checks: [...plans.checks, ...checks, ...contextChecks, ...conversationChecks],
};
