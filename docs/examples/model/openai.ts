import { OpenAI } from "openai";

const client = new OpenAI({
  baseURL: process.env["PARLEY_URL"],
  apiKey: process.env["PARLEY_KEY"],
});

const { id, owned_by } = await client.models.retrieve("vendor/model-1");
console.log(`${id} of ${owned_by}`);
