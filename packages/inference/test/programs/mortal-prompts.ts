import { parentPort } from "node:worker_threads";
import type { PromptJob } from "../../src/prompt/prompt-worker.ts";

// A thread that renders prompts of one token. The word "die" ends it, and "endless" keeps it busy until it is stopped.
// The word "twice" makes it answer twice.

parentPort?.on("message", (job: PromptJob) => {
  if (!("request" in job)) return;
  const said = job.request.messages[0]?.content;
  const content = typeof said === "string" ? said : "";
  if (content === "die") throw new Error("out of memory");
  if (content === "leave") process.exit(0);
  if (content === "leave soon") setTimeout(() => process.exit(0), 20);
  if (content.startsWith("endless") && job.stop) while (Atomics.load(job.stop, 0) === 0);
  const answer = { id: job.id, prompt: { tokens: [content.length], opensInReasoning: false } };
  parentPort?.postMessage(answer);
  if (content === "twice") parentPort?.postMessage(answer);
});
parentPort?.postMessage("ready");
