import { createParley, hasCode } from "@parley/client";

const parley = createParley();
const request = {
  model: "vendor/model-1",
  messages: [{ role: "user" as const, content: "What is a reentrancy attack?" }],
};

// Leaving the loop cancels the request: generation stops within a second.
let text = "";
for await (const { choices } of parley.stream(request)) {
  text += choices[0]?.delta.content ?? "";
  if (text.length > 10) break;
}
console.log(text);

// A signal cancels it from anywhere. The call throws the reason of the signal.
const controller = new AbortController();
setTimeout(() => controller.abort("The user has left."), 1);
try {
  await parley.create(request, { signal: controller.signal });
} catch (reason) {
  console.log(reason);
}

// A time limit does the same. It is in milliseconds, and includes retries.
try {
  await parley.create(request, { timeoutMs: 1 });
} catch (error) {
  if (!hasCode(error, "client_timeout")) throw error;
  console.log(error.message);
}
