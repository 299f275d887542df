import { createParley, defineTool } from "@parley/client";
import { z } from "zod";

const parley = createParley();

const getGasPrice = defineTool({
  name: "get_gas_price",
  description: "The price of gas on a chain, in gwei.",
  parameters: z.strictObject({ chain: z.enum(["ethereum", "polygon"]) }),
  run: ({ chain }) => ({ chain, gwei: 12 }),
});

const { message } = await parley.runTools(
  {
    model: "vendor/model-1",
    messages: [{ role: "user", content: "What does gas cost on Ethereum?" }],
    tools: [getGasPrice],
    tool_choice: "required",
  },
  {
    onMessage: ({ role, content }) => {
      if (role === "tool") console.log(`The tool says ${JSON.stringify(content)}.`);
    },
  },
);
console.log(message.content);
