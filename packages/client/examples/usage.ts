import { createParley } from "@parley/client";

const parley = createParley();

const stream = parley.stream({
  model: "vendor/model-1",
  messages: [{ role: "user", content: "What is a reentrancy attack?" }],
  stream_options: { include_usage: true },
});
for await (const { choices, usage } of stream) {
  process.stdout.write(choices[0]?.delta.content ?? "");
  if (usage) {
    const { prompt_tokens, completion_tokens, cost_usd } = usage;
    console.log(
      `\n${prompt_tokens} + ${completion_tokens} tokens, ${cost_usd} US dollars`,
    );
  }
}
