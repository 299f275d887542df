import express from "express";

/** The baseline: an Express server that parses JSON, answers JSON, writes events and waits for `drain`, and nothing else. */
const app = express();
const answer = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "vendor/model-1",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "You said: Hello", refusal: null },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12, cost_usd: "0.0000045" },
};
const chunk = {
  ...answer,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta: { content: " token" }, logprobs: null, finish_reason: null }],
};

app.post("/v1/chat/completions", express.json(), async (req, res) => {
  if (!(req.body as { stream?: boolean }).stream) return void res.json(answer); // overhead.ts sends it
  res.writeHead(200, { "content-type": "text/event-stream" });
  for (let event = 0; event < 1003; event += 1) {
    if (!res.write(`data: ${JSON.stringify(chunk)}\n\n`))
      await new Promise((resolve) => void res.once("drain", resolve));
  }
  res.end("data: [DONE]\n\n");
});

const server = app.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.({ url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}` });
});
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicros: user + system });
});
