import { createParley } from "@parley/client";

const parley = createParley({
  baseURL: process.env["PARLEY_URL"] ?? "http://127.0.0.1:8080/v1",
  apiKey: process.env["PARLEY_KEY"] ?? "",
});

const schema = {
  type: "object",
  properties: { risk: { enum: ["low", "high"] }, reasons: { type: "array", items: { type: "string" } } },
  required: ["risk", "reasons"],
  additionalProperties: false,
};
const { choices } = await parley.create({
  model: "vendor/model-1",
  messages: [{ role: "user", content: "How risky is an unaudited bridge?" }],
  response_format: { type: "json_schema", json_schema: { name: "assessment", schema } },
});
const [choice] = choices;
// "length" would mean that the text was cut; a text that ends with "stop" is valid against the schema.
if (choice?.finish_reason === "stop") console.log(JSON.parse(choice.message.content ?? ""));
