import type { Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import { mustKeepCap } from "../../judge/max-tokens.ts";
import { completionOf, contentOf, givenCompletion, textAt, tokensOf } from "../../judge/read.ts";
import { chat, say } from "../../requests/chat-request.ts";
import { clientId, originOf } from "../../requests/client-headers.ts";
import { modelRecord } from "../../requests/listed-model.ts";
import { thinking } from "../../requests/reasoning-request.ts";
import type { Header } from "../../wire/ask.ts";
import { endedBelowCap } from "./max-tokens.ts";
import { ifThinks, mustCountThoughts } from "./reasoning.ts";

/** Headers that must not keep a request from being answered, each of interest to a clause. */
const extraHeaders = ({ profile }: Context): readonly Header[] => [
  ["Accept", "text/event-stream"],
  ["X-Client-Request-Id", clientId],
  ["x-request-id", "conformance-request-id"],
  ["Origin", originOf(profile)],
];

/** The exchange with all of these headers, where it was answered. */
function plainWithAll(context: Context): string {
  completionOf(context.answer("plain with headers"));
  return "plain with headers";
}

/** The plain request with all of the headers; where that is refused, without any, and with each of them alone. */
const plainRequests: readonly Step[] = [
  {
    name: "plain with headers",
    needs: ["models"],
    isValid: true,
    asks: (context) => [chat(context, {}, { headers: extraHeaders(context) })],
  },
  {
    name: "plain",
    needs: ["models", "plain with headers"],
    isValid: true,
    shownBy: plainWithAll,
    asks: (context) => [chat(context)],
  },
  ...["Accept", "X-Client-Request-Id", "x-request-id", "Origin"].map((name): Step => ({
    name: `plain with ${name}`,
    needs: ["models", "plain with headers"],
    isValid: true,
    shownBy: plainWithAll,
    asks: (context) => [chat(context, {}, { headers: extraHeaders(context).filter(([one]) => one === name) })],
  })),
];

export const steps: readonly Step[] = [
  ...plainRequests,
  {
    name: "plain again",
    needs: ["models", "plain", "stream"],
    isValid: true,
    shownBy: sameInStream,
    asks: (context) => [chat(context)],
  },
  {
    name: "choices",
    needs: ["models", "plain", "upper bounds"],
    isValid: true,
    shownBy: (context) => {
      const [one, several] = [context.answer("plain"), context.answer("upper bounds")];
      mustKeepCap(several);
      // Its question comes in parts. Where these are read as another text, nothing can be compared.
      must(tokensOf(several, "prompt_tokens") === tokensOf(one, "prompt_tokens"), several, "one prompt", "another");
      return several.name;
    },
    asks: (context) => [chat(context, { n: 2, max_completion_tokens: 4, temperature: 1 })],
  },
  {
    name: "short",
    needs: ["models", "plain", "developer, system, user"],
    isValid: true,
    shownBy: (context) => endedBelowCap(context)[0]?.name ?? cannot("no answer has ended by itself"),
    asks: (context) => [chat(context, { ...say("Answer with one word: yes or no?"), max_completion_tokens: 64 })],
  },
  {
    name: "thinking",
    needs: ["models", "lower bounds and extras"],
    isValid: true,
    shownBy: (context) => {
      ifThinks(context);
      mustCountThoughts(context.answer("lower bounds and extras"));
      return "lower bounds and extras";
    },
    asks: (context) => thinking(context, { reasoning_effort: "high", max_completion_tokens: 2 }),
  },
  {
    name: "thinking longer",
    needs: ["models"],
    isValid: true,
    asks: (context) => thinking(context, { reasoning_effort: "high", max_completion_tokens: 24 }),
  },
  {
    name: "no thinking",
    needs: ["models", "developer, system, user"],
    isValid: true,
    shownBy: (context) => {
      ifThinks(context);
      const answer = context.exchange("developer, system, user #2");
      completionOf(answer);
      return answer.name;
    },
    asks: (context) => [chat(context, { reasoning_effort: "none", max_completion_tokens: 8 })],
  },
  {
    name: "the default effort",
    needs: ["models", "plain", "stream"],
    isValid: true,
    shownBy: (context) => {
      ifThinks(context);
      return sameInStream(context);
    },
    asks: (context) =>
      thinking(context, { reasoning_effort: textAt(modelRecord(context), "/default_reasoning_effort") }),
  },
];

/** The stream asks the plain question and names the default effort: where the text is the same, both have shown something. */
function sameInStream(context: Context): string {
  const [plain, stream] = [context.answer("plain"), context.answer("stream")];
  completionOf(stream);
  givenCompletion(plain);
  const text = contentOf(plain);
  must(text !== "" && contentOf(stream) === text, stream, show(text), show(contentOf(stream)));
  return stream.name;
}
