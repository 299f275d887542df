import { readStream } from "./read-stream.ts";

const url = process.env["PARLEY_URL"] ?? "http://127.0.0.1:8080/v1";
const response = await fetch(`${url}/chat/completions`, {
  method: "POST",
  headers: { authorization: `Bearer ${process.env["PARLEY_KEY"]}`, "content-type": "application/json" },
  body: JSON.stringify({
    model: "vendor/model-1",
    messages: [{ role: "user", content: "What is a reentrancy attack?" }],
    stream: true,
  }),
});
if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);

for await (const chunk of readStream(response.body))
  for (const { delta } of chunk.choices) process.stdout.write(delta.content ?? "");
process.stdout.write("\n");
