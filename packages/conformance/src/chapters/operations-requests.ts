import type { Step } from "../judge/check.ts";
import type { Context } from "../judge/context.ts";
import { cannot } from "../judge/finding.ts";
import { deadlineMs } from "../run/profile.ts";
import { play, say, chat } from "./ask.ts";
import { needsKey } from "./limits-requests.ts";
import { scripted } from "./stream-scripted.ts";

export const markers = ["qwx17", "zvk42", "jpf93", "hgy68"];
export const endless = { max_completion_tokens: undefined };
const isScripted = ({ profile }: Context): void => {
  if (profile.abilities?.includes("scripted") !== true)
    cannot("it needs a scripted engine behind the service; see the guide");
};

export const steps: readonly Step[] = [
  {
    name: "streams side by side",
    needs: ["models"],
    isValid: true,
    how: "side by side",
    asks: (context) =>
      markers.map((marker) =>
        chat(context, { ...say(`Repeat this word: ${marker}`), stream: true, max_completion_tokens: 12 }),
      ),
  },
  {
    name: "expired and disabled",
    needs: ["models"],
    asks: (context) =>
      (["expired", "disabled"] as const).map((key) => {
        needsKey(context, key);
        return chat(context, {}, { key });
      }),
  },
  scripted("an early failure", "early-failure", { stream: false }, { isRecorded: true }),
  scripted("an engine that resets", "reset", { stream: false }),
  {
    name: "after a failure",
    needs: ["models", "an early failure", "an engine that resets"],
    isValid: true,
    asks: (context) => [chat(context, { max_completion_tokens: 2 }, { manner: { delayMs: 500 } })],
  },
  scripted(
    "an engine that never speaks",
    "never",
    { stream: false },
    {
      when: "aside",
      options: (context) => ({ manner: { deadlineMs: deadlineMs(context.profile, "requestDeadlineSeconds") + 5000 } }),
    },
  ),
  scripted(
    "a stream that never ends",
    "stall",
    {},
    {
      when: "aside",
      options: (context) => ({ manner: { deadlineMs: deadlineMs(context.profile, "requestDeadlineSeconds") + 5000 } }),
    },
  ),
  scripted("a stream that is left", "endless", endless, {
    isRecorded: true,
    options: () => ({ manner: { leaveAfterEvents: 20 } }),
  }),
  scripted(
    "an answer that is left",
    "endless",
    {},
    {
      needs: ["models", "places given back"],
      when: "aside",
      asks: (context) => {
        const places = needsKey(context, "concurrency", "concurrency");
        isScripted(context);
        const left = chat(
          context,
          { ...play("conformance-endless"), ...endless },
          { key: "concurrency", manner: { leaveAfterMs: 700 } },
        );
        return [
          ...Array.from({ length: places }, () => left),
          chat(context, { max_completion_tokens: 1 }, { key: "concurrency", manner: { delayMs: 1000 } }),
        ];
      },
    },
  ),
  scripted(
    "a neighbour that leaves",
    "slow",
    {},
    {
      how: "side by side",
      asks: (context) => {
        isScripted(context);
        const slow = chat(context, { ...play("conformance-slow"), ...endless, stream: true });
        return [slow, { ...slow, manner: { leaveAfterEvents: 3 } }, { ...slow, manner: { leaveAfterMs: 300 } }];
      },
    },
  ),
  scripted("a reader that takes nothing", "flood", endless, {
    when: "aside",
    isRecorded: true,
    options: (context) => {
      const patience = deadlineMs(context.profile, "slowReaderSeconds");
      return { manner: { stopReadingMs: patience + 8000, maxBytes: 33_554_432, deadlineMs: patience + 30_000 } };
    },
  }),
  {
    name: "a recorded answer",
    needs: ["models"],
    isValid: true,
    isRecorded: true,
    asks: (context) => [chat(context, { max_completion_tokens: 3 })],
  },
  {
    name: "a recorded refusal",
    needs: ["models"],
    isRecorded: true,
    asks: (context) => [chat(context, { temperature: 3 }), chat(context, { model: "conformance/none" })],
  },
  scripted(
    "the death of an engine",
    "death",
    {},
    {
      when: "last",
      isRecorded: true,
      asks: (context) => {
        isScripted(context);
        return [
          chat(context, { ...play("conformance-death"), stream: true }),
          chat(context, { max_completion_tokens: 2 }),
          chat(context, { max_completion_tokens: 2 }),
        ];
      },
    },
  ),
];
