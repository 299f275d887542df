import type { Step } from "../../judge/check.ts";
import { deadlineMs } from "../../profile.ts";
import { chat, play, say } from "../../requests/chat-request.ts";
import { endless, needsScript, scripted } from "../../requests/scripted-request.ts";

export const markers = ["qwx17", "zvk42", "jpf93", "hgy68"];
export const steps: readonly Step[] = [
  {
    name: "streams side by side",
    needs: ["models"],
    isValid: true,
    how: "side by side",
    requests: (context) =>
      markers.map((marker) =>
        chat(context, { ...say(`Repeat this word: ${marker}`), stream: true, max_completion_tokens: 12 }),
      ),
  },
  scripted("an early failure", "early-failure", { stream: false }, { isRecorded: true }),
  scripted("an engine that resets", "reset", { stream: false }),
  {
    name: "after a failure",
    needs: ["models", "an early failure", "an engine that resets"],
    isValid: true,
    requests: (context) => [chat(context, { max_completion_tokens: 2 }, { behaviour: { delayMs: 500 } })],
  },
  scripted(
    "an engine that never speaks",
    "never",
    { stream: false },
    {
      when: "background",
      options: (context) => ({
        behaviour: { deadlineMs: deadlineMs(context.profile, "requestDeadlineSeconds") + 5000 },
      }),
    },
  ),
  scripted(
    "a neighbour that disconnects",
    "slow",
    {},
    {
      how: "side by side",
      requests: (context) => {
        needsScript(context);
        const slow = chat(context, { ...play("conformance-slow"), ...endless, stream: true });
        return [
          slow,
          { ...slow, behaviour: { disconnectAfterEvents: 3 } },
          { ...slow, behaviour: { disconnectAfterMs: 300 } },
        ];
      },
    },
  ),
  {
    name: "a recorded answer",
    needs: ["models"],
    isValid: true,
    isRecorded: true,
    requests: (context) => [chat(context, { max_completion_tokens: 3 })],
  },
  {
    name: "a recorded refusal",
    needs: ["models"],
    isRecorded: true,
    requests: (context) => [chat(context, { temperature: 3 }), chat(context, { model: "conformance/none" })],
  },
  scripted(
    "the death of an engine",
    "death",
    {},
    {
      when: "last",
      isRecorded: true,
      requests: (context) => {
        needsScript(context);
        return [
          chat(context, { ...play("conformance-death"), stream: true }),
          chat(context, { max_completion_tokens: 2 }),
          chat(context, { max_completion_tokens: 2 }),
        ];
      },
    },
  ),
];
