import type { Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import { mustStopAtMaxTokens } from "../../judge/max-tokens.ts";
import { completionOf, contentOf, givenCompletion, listAt, sentBody, textAt, tokensOf } from "../../judge/read.ts";
import { chat, say } from "../../requests/chat-request.ts";
import { clientId, originOf } from "../../requests/client-headers.ts";
import { modelObject } from "../../requests/listed-model.ts";
import { reasoningRequest } from "../../requests/reasoning-request.ts";
import { notInShortRun } from "../../requests/short-run.ts";
import type { Header } from "../../wire/http-request.ts";
import { endedBelowMaxTokens } from "./max-tokens.ts";
import { needsReasoning, mustCountReasoning } from "./reasoning.ts";

/** Headers with which a request has to be answered all the same, each for a clause. */
const extraHeaders = ({ profile }: Context): readonly Header[] => [
  ["Accept", "text/event-stream"],
  ["X-Client-Request-Id", clientId],
  ["x-request-id", "conformance-request-id"],
  ["Origin", originOf(profile)],
];

/** The exchange with all of these headers, if it was answered. */
function plainWithAll(context: Context): string {
  completionOf(context.answer("plain with headers"));
  return "plain with headers";
}

/** The plain request with all of the headers; if that is refused, without any of them and with each alone. */
const plainRequests: readonly Step[] = [
  {
    name: "plain with headers",
    needs: ["models"],
    isValid: true,
    requests: (context) => [chat(context, {}, { headers: extraHeaders(context) })],
  },
  {
    name: "plain",
    needs: ["models", "plain with headers"],
    isValid: true,
    coveredBy: plainWithAll,
    requests: (context) => [chat(context)],
  },
  ...["Accept", "X-Client-Request-Id", "x-request-id", "Origin"].map((name): Step => ({
    name: `plain with ${name}`,
    needs: ["models", "plain with headers"],
    isValid: true,
    coveredBy: plainWithAll,
    requests: (context) => [chat(context, {}, { headers: extraHeaders(context).filter(([one]) => one === name) })],
  })),
];

/** The steps that a check of every answer needs. It also judges all other answers of the run. */
export const answeredSteps = ["plain", "choices", "short", "stream", "reasoning cut off"];

export const steps: readonly Step[] = [
  ...plainRequests,
  {
    name: "plain again",
    needs: ["models", "plain", "stream"],
    isValid: true,
    coveredBy: sameInStream,
    requests: (context) => [chat(context)],
  },
  {
    name: "choices",
    needs: ["models", "plain", "upper bounds"],
    isValid: true,
    coveredBy: (context) => {
      const [one, several] = [context.answer("plain"), context.answer("upper bounds")];
      mustStopAtMaxTokens(several);
      must(listAt(several.json, "/choices").length > 1, several, "several choices", "one");
      // Its question comes in parts. If the service reads them as another text, the counts cannot be compared.
      must(tokensOf(several, "prompt_tokens") === tokensOf(one, "prompt_tokens"), several, "one prompt", "another");
      return several.name;
    },
    requests: (context) => [chat(context, { n: 2, max_completion_tokens: 4, temperature: 1 })],
  },
  {
    name: "short",
    needs: ["models", "plain"],
    isValid: true,
    when: "last",
    coveredBy: (context) => {
      const ended = endedBelowMaxTokens(context).find((answer) => (sentBody(answer)["stop"] ?? null) === null);
      return ended?.name ?? cannot("no answer has ended by itself");
    },
    requests: (context) => [chat(context, { ...say("Answer with one word: yes or no?"), max_completion_tokens: 64 })],
  },
  {
    name: "reasoning cut off",
    needs: ["models", "lower bounds and extras"],
    isValid: true,
    coveredBy: (context) => {
      needsReasoning(context);
      mustCountReasoning(context.answer("lower bounds and extras"));
      return "lower bounds and extras";
    },
    requests: (context) => reasoningRequest(context, { reasoning_effort: "high", max_completion_tokens: 2 }),
  },
  {
    name: "longer reasoning",
    needs: ["models"],
    isValid: true,
    requests: (context) => reasoningRequest(context, { reasoning_effort: "high", max_completion_tokens: 24 }),
  },
  {
    name: "one reasoning, whole and streamed",
    needs: ["models"],
    isValid: true,
    requests: (context) => {
      notInShortRun(context);
      const members = { reasoning_effort: "high", max_completion_tokens: 24 };
      return [members, { ...members, stream: true }].flatMap((one) => reasoningRequest(context, one));
    },
  },
  {
    name: "reasoning effort none",
    needs: ["models", "developer, system, user"],
    isValid: true,
    coveredBy: (context) => {
      needsReasoning(context);
      const answer = context.exchange("developer, system, user #2");
      completionOf(answer);
      return answer.name;
    },
    requests: (context) => [chat(context, { reasoning_effort: "none", max_completion_tokens: 8 })],
  },
  {
    name: "the default effort",
    needs: ["models", "plain", "stream"],
    isValid: true,
    coveredBy: (context) => {
      needsReasoning(context);
      return sameInStream(context);
    },
    requests: (context) =>
      reasoningRequest(context, { reasoning_effort: textAt(modelObject(context), "/default_reasoning_effort") }),
  },
];

/** The step "stream" sends the plain question with the default effort. If the text is the same, it covers both requests. */
function sameInStream(context: Context): string {
  const [plain, stream] = [context.answer("plain"), context.answer("stream")];
  completionOf(stream);
  givenCompletion(plain);
  const text = contentOf(plain);
  must(
    text !== "" && contentOf(stream) === text,
    stream,
    `the text ${show(text)}`,
    `the text ${show(contentOf(stream))}`,
  );
  return stream.name;
}
