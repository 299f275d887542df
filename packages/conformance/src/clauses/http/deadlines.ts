import type { Check, Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { must } from "../../judge/finding.ts";
import { mustRefuse } from "../../judge/read.ts";
import { deadlineMs } from "../../profile.ts";
import { httpRequest, authorized, chat } from "../../requests/chat-request.ts";

/** The tolerance of a deadline for the delay of the network. */
const graceMs = 5000;

const within = (context: Context, name: string): number => deadlineMs(context.profile, name) + graceMs;

export const slowSteps: readonly Step[] = [
  {
    name: "a head that stays unfinished",
    when: "background",
    requests: (context) => {
      const request = httpRequest(context, "GET", `${context.profile.basePath}/models`, [authorized]);
      const behaviour = { holdBackBytes: 2, deadlineMs: within(context, "headDeadlineSeconds") };
      return [{ ...request, behaviour }];
    },
  },
  {
    name: "a body that stays unfinished",
    needs: ["models"],
    when: "background",
    requests: (context) => {
      const behaviour = { holdBackBytes: 10, deadlineMs: within(context, "bodyDeadlineSeconds") };
      return [chat(context, {}, { behaviour })];
    },
  },
];

const slow = (clause: string, what: string, step: string, name: string): Check => ({
  clause,
  how: `Holds back the end of a request's ${what} and waits for the deadline, and a little longer.`,
  uses: [step],
  judge: (context) => {
    const answer = context.answer(step);
    mustRefuse(answer, { status: 408, code: "request_timeout", param: null });
    const atMs = answer.exchange.received[0]?.atMs ?? 0;
    const least = deadlineMs(context.profile, name) * 0.5;
    must(
      atMs >= least,
      answer,
      `an answer after about ${deadlineMs(context.profile, name)} ms`,
      `one after ${atMs} ms`,
    );
    return `408 after ${Math.round(atMs)} ms`;
  },
});

export const slowChecks: readonly Check[] = [
  slow("HTTP-19", "head", "a head that stays unfinished", "headDeadlineSeconds"),
  slow("HTTP-20", "body", "a body that stays unfinished", "bodyDeadlineSeconds"),
];
