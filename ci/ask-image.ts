import { untilReady } from "./until-ready.ts";

// Sends a chat to the server's image, which runs next to this step. If the server does not answer, the step's time limit ends it.

const url = process.env["PARLEY_URL"] ?? "";
const key = process.env["PARLEY_API_KEY"] ?? "";
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };

/** The part of an answer that is read. */
interface Completion {
  readonly choices: readonly { readonly finish_reason: string; readonly message: { readonly content: string } }[];
}

await untilReady(url, key);
const body = {
  model: "vendor/model-1",
  messages: [{ role: "user", content: "What is a reentrancy attack?" }],
  max_completion_tokens: 200,
};
const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) });
const text = await response.text();
process.stdout.write(`${response.status} ${text}\n`);
const { choices } = JSON.parse(text) as Completion; // an error has none, and fails here
if (!choices[0]?.message.content) throw new Error("the image answers without a text");
