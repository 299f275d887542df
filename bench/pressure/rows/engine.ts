import { ask, chat, play } from "../ask.ts";
import { aim, bound, figure } from "../row.ts";
import type { Attack, Finding, Row } from "../row.ts";
import { pause, Tally } from "../sockets.ts";

const model = "vendor/model-1";

/** Breaks the engine of one model, then polls that model and its readiness until the engine is back or the signal comes. */
async function breakEngine({ target, signal, makeKey }: Attack, scenario: string): Promise<Finding[]> {
  const { token } = await makeKey();
  const isReady = async (): Promise<boolean> =>
    (await ask({ url: `${target.origin}/ready?model=${model}` })).status === 200;
  const broken = chat(target.origin, token, play(scenario), { signal }).then(
    ({ status }) => status,
    () => "no answer",
  );
  await pause(50, signal);
  const startedMs = performance.now();
  const answers = new Tally();
  let firstFailureMs: number | undefined;
  let readyAfterFailure = 0;
  while (!signal.aborted) {
    const answer = await chat(target.origin, token, { model }, { timeoutMs: 10_000 }).catch(() => undefined);
    answers.add(answer?.status ?? "no answer");
    if (answer?.status === 200) {
      if (firstFailureMs !== undefined) break;
    } else {
      firstFailureMs ??= performance.now() - startedMs;
      if (answer?.status === 502 && (await isReady())) readyAfterFailure += 1;
    }
    await pause(50, signal);
  }
  const tookMs = performance.now() - startedMs;
  return [
    figure("the request that broke it", await broken),
    figure("requests to that model until it was back", `${String(answers)}, in ${Math.round(tookMs)} ms`),
    aim("at most one of them is answered 502", answers.of(502) <= 1, answers.of(502)),
    aim(
      "/ready?model= is 503 after a request that found it dead",
      readyAfterFailure === 0,
      `${readyAfterFailure} times 200`,
    ),
    bound("each of them is answered", answers.of("no answer") === 0, String(answers)),
  ];
}

/** The scripted engine stands in for vLLM: a supervisor watches the process of either. The neighbour uses the other model. */
const engineRow = (name: string, action: string, scenario: string): Row => ({
  name: `engine/${name}`,
  action,
  engine: "scripted",
  scenarios: { die: [{ die: true }], freeze: [{ freeze: true }] },
  seconds: 20,
  neighbourModel: "vendor/model-1-mini",
  attack: (attack) => breakEngine(attack, scenario),
});

export const engineKilled = engineRow("killed", "the process of one model's engine is killed", "die");
export const engineFrozen = engineRow("frozen", "the process of one model's engine is stopped", "freeze");
