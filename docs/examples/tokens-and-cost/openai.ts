import { OpenAI } from "openai";

const client = new OpenAI({
  baseURL: process.env["PARLEY_URL"],
  apiKey: process.env["PARLEY_KEY"],
});

const stream = await client.chat.completions.create({
  model: "vendor/model-1",
  messages: [{ role: "user", content: "What is a reentrancy attack?" }],
  stream: true,
  stream_options: { include_usage: true },
});
for await (const { choices, usage } of stream) {
  process.stdout.write(choices[0]?.delta.content ?? "");
  if (!usage) continue;
  // The SDK's types do not have the price.
  const { cost_usd } = usage as typeof usage & { cost_usd: string };
  const { prompt_tokens, completion_tokens } = usage;
  console.log(
    `\n${prompt_tokens} + ${completion_tokens} tokens, ${cost_usd} US dollars`,
  );
}
