import { ChatOpenAI } from "@langchain/openai";

const model = new ChatOpenAI({
  model: "vendor/model-1",
  apiKey: process.env.PARLEY_KEY,
  configuration: { baseURL: process.env.PARLEY_URL },
  useResponsesApi: false,
});
console.log((await model.invoke("What is a reentrancy attack?")).content);
