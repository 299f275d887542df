import { createParley } from "@parley/client";

const parley = createParley();
const request = {
  model: "vendor/model-1",
  messages: [{ role: "user" as const, content: "What is a reentrancy attack?" }],
};

// Every answer can give the response that brought it: its headers,
// and the id to name to the operator.
const { data, response, requestId } = await parley.create(request).withResponse();
console.log(`${requestId}: ${data.choices[0]?.finish_reason}`);
console.log(
  `${response.headers.get("x-ratelimit-remaining-requests")} further requests now`,
);

// So can a stream, before its first chunk is read.
const opened = await parley.stream(request).withResponse();
console.log(`${opened.requestId}: ${await opened.data.finalText()}`);
