import { ParleyError, createParley, hasCode } from "@parley/client";

const parley = createParley({ maxRetries: 4 });

/** Asks a question. If that fails, it prints what to do. */
async function ask(model: string, content: string): Promise<void> {
  try {
    for await (const { choices } of parley.stream({
      model,
      messages: [{ role: "user", content }],
    })) {
      process.stdout.write(choices[0]?.delta.content ?? "");
    }
  } catch (error) {
    if (hasCode(error, "context_length_exceeded")) {
      const { prompt_tokens, context_length } = error.details;
      console.log(`Shorten it: ${prompt_tokens} of ${context_length} tokens.`);
    } else if (
      hasCode(
        error,
        "rate_limit_exceeded",
        "capacity_exhausted",
        "service_unavailable",
      )
    ) {
      console.log(`Come back in ${error.retry.afterMs ?? 1000} milliseconds.`);
    } else if (error instanceof ParleyError) {
      console.log(`${error.code}: ${error.message} (request ${error.requestId})`);
      if (error.chunks.length > 0) console.log("The answer above is not complete.");
    } else {
      throw error;
    }
  }
}

await ask("vendor/model-1", "What is a reentrancy attack?");
await ask("vendor/no-such-model", "What is a reentrancy attack?");
await ask("vendor/model-1", "Why? ".repeat(40_000));
