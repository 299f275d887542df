import { parentPort } from "node:worker_threads";

/** A thread that makes prompts of one token, and dies of the word "die". */
parentPort?.on("message", ({ id, request }: { id: number; request: { messages: readonly { content: string }[] } }) => {
  const [message] = request.messages;
  if (message?.content === "die") throw new Error("out of memory");
  if (message?.content === "leave") process.exit(0);
  parentPort?.postMessage({ id, prompt: { tokens: [message?.content.length ?? 0], opensInReasoning: false } });
});
parentPort?.postMessage("ready");
