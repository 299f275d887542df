import { APIError, OpenAI, RateLimitError } from "openai";

// The SDK retries 408, 409, 429 and 5xx by itself.
// It waits as long as the service says.
const client = new OpenAI({
  baseURL: process.env["PARLEY_URL"],
  apiKey: process.env["PARLEY_KEY"],
  maxRetries: 4,
});

/** Asks a question. If that fails, it prints what to do. */
async function ask(model: string): Promise<void> {
  try {
    const answer = await client.chat.completions.create({
      model,
      messages: [{ role: "user", content: "What is a reentrancy attack?" }],
    });
    console.log(answer.choices[0]?.message.content);
  } catch (error) {
    if (error instanceof RateLimitError) {
      console.log(`Come back in ${error.headers.get("retry-after")} seconds.`);
    } else if (error instanceof APIError) {
      const { code, message, requestID } = error;
      console.log(`${code}: ${message} (request ${requestID})`);
    } else throw error;
  }
}

await ask("vendor/model-1");
await ask("vendor/no-such-model");
