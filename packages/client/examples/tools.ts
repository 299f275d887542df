import { createParley, collect } from "@parley/client";
import type { ChatMessage, Tool } from "@parley/client";

const parley = createParley({
  baseURL: process.env["PARLEY_URL"] ?? "http://127.0.0.1:8080/v1",
  apiKey: process.env["PARLEY_KEY"] ?? "",
});

const model = "vendor/model-1";
const getGasPrice: Tool = {
  type: "function",
  function: {
    name: "get_gas_price",
    description: "The price of gas on a chain, in gwei.",
    parameters: {
      type: "object",
      properties: { chain: { enum: ["ethereum", "polygon"] } },
      required: ["chain"],
      additionalProperties: false,
    },
  },
};
const messages: ChatMessage[] = [{ role: "user", content: "What does gas cost on Ethereum?" }];

// collect() turns a stream into one completion; create() would return the same message.
const asked = await collect(parley.stream({ model, messages, tools: [getGasPrice], tool_choice: "required" }));
for (const { message } of asked.choices) {
  messages.push(message);
  for (const { id, function: call } of message.tool_calls ?? []) {
    console.log(`${call.name}(${call.arguments})`);
    messages.push({ role: "tool", tool_call_id: id, content: JSON.stringify({ gwei: 12 }) });
  }
}

const answered = await parley.create({ model, messages, tools: [getGasPrice] });
console.log(answered.choices[0]?.message.content);
