import { setTimeout as wait } from "node:timers/promises";
import { bad, good } from "../finding.ts";
import type { Finding } from "../finding.ts";
import { probeRequest } from "../probe.ts";
import { grownBy, readCounts } from "./engine-counts.ts";
import type { ExamineFrontOptions } from "./examine-front.ts";
import type { Answered, FrontPrompts } from "./front-prompts.ts";

/** The length of an answer in tokens: three of the longest cache blocks that we know, those of vLLM on processors. */
const answerTokens = 384;

/** The number of answers that are left. */
const attempts = 3;

/**
 * Every answer consists of this token, so it is known which tokens an engine has in its cache if it ran on. It is an ordinary
 * token in all vocabularies that we know: the lower ids of some belong to special tokens.
 */
const forcedToken = 1500;

const forced = {
  maxTokens: answerTokens,
  sampling: { ...probeRequest.sampling, logit_bias: { [String(forcedToken)]: 100 } },
};

type Known = Pick<ExamineFrontOptions, "protocol" | "engines">;

/**
 * Checks that an engine stops when its client hangs up. An engine caches what it generates. So a later prompt that continues with
 * the same tokens shows how many were generated after the hang-up, whatever a service in between does or says.
 */
export async function examineHangUps(topic: string, prompts: FrontPrompts, known: Known): Promise<Finding> {
  const whole = await prompts.ask("heard out", prompts.textOf("heard out"), forced);
  const control = await continueWith(prompts, "heard out", whole.text, known);
  const isVisible = generatedIn(control) >= answerTokens / 2;
  const names = Array.from({ length: attempts }, (_, index) => `left ${index}`);
  const before = await readCounts(known.engines);
  const arrived: number[] = [];
  for (const name of names) arrived.push(await prompts.hangUp(name, prompts.textOf(name), forced));
  // Engines that ran on have ended after this time, even if they generate one answer at a time.
  await wait(attempts * whole.tookMs + 200);
  const after = await readCounts(known.engines);
  const sum = arrived.reduce((all, count) => all + count, 0);
  const isMeaningful = sum < (attempts * answerTokens) / 4;
  if (!isMeaningful) return good(topic, `${hidden}, because answers arrive too fast to leave them`);
  const seen = `${attempts} answers of ${answerTokens} tokens were left when ${sum} had arrived in all`;
  if (known.engines.length > 0) {
    const generated = grownBy("generatedTokens", before, after);
    const saw = `${seen}; the engines generated ${generated}`;
    if (generated >= (attempts * answerTokens) / 2) return bad(topic, `${swallowed} (or others were using them)`, saw);
    if (!isVisible) return good(topic, saw);
  }
  if (!isVisible) return good(topic, `${hidden}: name the engines with --engines, and their own counters will show it`);
  const later: Answered[] = [];
  for (const name of names) later.push(await continueWith(prompts, name, whole.text, known));
  return judge(topic, later, seen);
}

const hidden = "whether they reach the engine cannot be seen from here";
const swallowed = "It does not pass hang-ups on: its engines go on generating for callers that have left";

/** Tells from the caches of the engines whether they ran on. */
function judge(topic: string, later: readonly Answered[], seen: string): Finding {
  const met = later.filter(({ usage }) => usage.cachedTokens >= (usage.promptTokens - answerTokens) / 2);
  const ranOn = met.filter((answered) => generatedIn(answered) >= answerTokens / 2).length;
  const longer = `${seen}; ${ranOn} of ${met.length} were generated for half of their length or more`;
  // A busy engine may stop late. A front that does not pass hang-ups on lets all of them run on.
  if (ranOn > met.length / 2) return bad(topic, `${swallowed}.`, longer);
  if (ranOn > 0) return good(topic, longer);
  if (met.length > 0)
    return good(topic, `${seen}; the engines stopped, as their caches show for ${met.length} of them`);
  return good(topic, `${hidden}, because conversations change the engine: name the engines with --engines`);
}

/** Returns the number of cached tokens that are not from the prompt before the answer. */
const generatedIn = ({ usage }: Answered): number => usage.cachedTokens - (usage.promptTokens - answerTokens);

/** Sends a prompt again, with a whole answer behind it. */
function continueWith(prompts: FrontPrompts, name: string, answer: string, { protocol }: Known): Promise<Answered> {
  const content = prompts.textOf(name);
  if (protocol === "completions") {
    return prompts.ask(name, content, { continuation: Array.from({ length: answerTokens }, () => forcedToken) });
  }
  return prompts.ask(name, [
    { role: "user", content },
    { role: "assistant", content: answer },
    { role: "user", content: "And then?" },
  ]);
}
