import type { Chapter, Check, Step, Unchecked } from "../judge/check.ts";
import { answers } from "./answers.ts";
import { auth } from "./auth.ts";
import { errors } from "./errors.ts";
import { formats } from "./formats.ts";
import { http } from "./http.ts";
import { limits } from "./limits.ts";
import { logprobs } from "./logprobs.ts";
import { messages } from "./messages.ts";
import { models } from "./models.ts";
import { operations } from "./operations.ts";
import { probeSteps } from "./probes.ts";
import { members } from "./members.ts";
import { sampling } from "./sampling.ts";
import { stream } from "./stream.ts";
import { tools } from "./tools.ts";

/** The chapters in the order in which their requests are sent. */
const chapters: readonly Chapter[] = [
  models,
  answers,
  auth,
  http,
  members,
  messages,
  stream,
  errors,
  tools,
  formats,
  logprobs,
  sampling,
  limits,
  operations,
];

/** The request book: every request that the suite can send, by name. */
export const book: ReadonlyMap<string, Step> = new Map(
  [...chapters.flatMap(({ steps }) => steps), ...probeSteps].map((step) => [step.name, step]),
);

export const checks: readonly Check[] = chapters.flatMap((chapter) => chapter.checks);

/** Clauses that nobody can judge from outside. */
export const unchecked: readonly Unchecked[] = [
  {
    clause: "OPS-12",
    reason: "It holds when the service cannot write its records, as on a full disk, and no request brings that about.",
  },
];
