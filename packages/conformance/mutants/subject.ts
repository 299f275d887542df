import { startReference } from "./reference/server.ts";
import type { KeyRules } from "./reference/keys.ts";
import type { Mutant } from "./reference/mutant.ts";
import type { Subject } from "./judge.ts";

/** Deadlines in seconds: short enough for hundreds of runs, and long enough for a server on a busy machine. */
const deadlines = {
  headDeadlineSeconds: 5,
  bodyDeadlineSeconds: 5,
  requestDeadlineSeconds: 9,
  firstEventPatienceSeconds: 0.6,
  keepAliveSeconds: 0.6,
  slowReaderSeconds: 1,
};

const keys: Readonly<Record<string, KeyRules>> = {
  key: {},
  expired: { state: "expired" },
  disabled: { state: "disabled" },
  spent: { isSpent: true },
  raised: { isRaised: true },
  requests: { requestsPerMinute: 12 },
  tokens: { tokensPerMinute: 100 },
  concurrency: { concurrency: 1 },
  restricted: { models: ["reference/toy"] },
};

/** The reference server, with one seeded bug or none, ready to be judged. */
export async function startSubject(mutant: Mutant = {}): Promise<Subject & AsyncDisposable> {
  const secrets = new Map(Object.keys(keys).map((role) => [role, `${role}-Vr7Qz2Lk9Xw4Tn${role.length}`]));
  const rules = new Map(Object.entries(keys).map(([role, own]) => [secrets.get(role) ?? "", own]));
  const ms = (name: keyof typeof deadlines): number => deadlines[name] * 1000;
  const settings = {
    headMs: ms("headDeadlineSeconds"),
    bodyMs: ms("bodyDeadlineSeconds"),
    requestMs: ms("requestDeadlineSeconds"),
    patienceMs: ms("firstEventPatienceSeconds"),
    keepAliveMs: ms("keepAliveSeconds"),
    slowReaderMs: ms("slowReaderSeconds"),
  };
  const server = await startReference(rules, settings, mutant);
  return {
    baseUrl: server.baseUrl,
    secrets,
    profile: {
      implementation: { name: "reference" },
      capabilities: ["greedy", "guided", "scripted"],
      requestsPerMinute: 12,
      tokensPerMinute: 100,
      concurrency: 1,
      restrictedModel: "reference/toy-mini",
      slots: 64,
      queueLength: 8,
      deadlines,
      records: { url: server.recordsUrl },
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
