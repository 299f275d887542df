import { setTimeout as wait } from "node:timers/promises";
import express from "express";

/**
 * An Express server that parses JSON, answers JSON, writes an event every 20 ms and waits for `drain`. It does nothing else, and
 * never asks the engine: `express-server.ts ENGINE PORT`.
 */

const port = process.argv[3] ?? "";
const app = express();
const content = " token".repeat(160);
const answer = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "vendor/model-1-mini",
  choices: [
    { index: 0, message: { role: "assistant", content, refusal: null }, logprobs: null, finish_reason: "length" },
  ],
  usage: { prompt_tokens: 9, completion_tokens: 160, total_tokens: 169, cost_usd: "0.0000045" },
};
const chunk = {
  ...answer,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta: { content: " token" }, logprobs: null, finish_reason: null }],
};

interface Asked {
  readonly stream?: boolean;
  readonly max_tokens: number;
}

app.get("/health", (_req, res) => void res.json({ status: "ok" }));

app.post("/v1/chat/completions", express.json(), async (req, res) => {
  const { stream = false, max_tokens } = req.body as Asked; // the load sends it
  if (!stream) return void res.json(answer);
  res.writeHead(200, { "content-type": "text/event-stream" });
  for (let event = 0; event < max_tokens && !res.destroyed; event += 1) {
    if (event > 0) await wait(20);
    if (!res.write(`data: ${JSON.stringify(chunk)}\n\n`))
      await new Promise((resolve) => void res.once("drain", resolve));
  }
  res.end("data: [DONE]\n\n");
});

app.listen(Number(port), "127.0.0.1");
