import { OpenAI } from "openai";

const client = new OpenAI({
  baseURL: process.env["PARLEY_URL"],
  apiKey: process.env["PARLEY_KEY"],
});

const getGasPrice = ({ chain }: { chain: string }) => ({ chain, gwei: 12 });

const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: "function",
    function: {
      name: "get_gas_price",
      description: "The price of gas on a chain, in gwei.",
      strict: true,
      parameters: {
        type: "object",
        properties: { chain: { enum: ["ethereum", "polygon"] } },
        required: ["chain"],
        additionalProperties: false,
      },
    },
  },
];
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: "user", content: "What does gas cost on Ethereum?" },
];

// The first answer has to call a function. Later ones may.
let answer = await client.chat.completions.create({
  model: "vendor/model-1",
  messages,
  tools,
  tool_choice: "required",
});
while (answer.choices[0]?.finish_reason === "tool_calls") {
  const { message } = answer.choices[0];
  messages.push(message);
  for (const call of message.tool_calls ?? []) {
    if (call.type !== "function") continue;
    // The function is strict, so the service has enforced this type.
    const result = getGasPrice(
      JSON.parse(call.function.arguments) as { chain: string },
    );
    messages.push({
      role: "tool",
      tool_call_id: call.id,
      content: JSON.stringify(result),
    });
  }
  answer = await client.chat.completions.create({
    model: "vendor/model-1",
    messages,
    tools,
  });
}
console.log(answer.choices[0]?.message.content);
