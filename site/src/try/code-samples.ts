import { aiSdkSample } from "./ai-sdk-sample.ts";
import { jsLiteral, pythonLiteral } from "./literals.ts";
import { isObject } from "./schema.ts";
import type { Json, JsonObject } from "./schema.ts";

/** A request as a program. */
export interface CodeSample {
  /** The label of its tab. */
  readonly label: string;
  readonly code: string;
}

const clientPackage = "@parley/client";

/** Members that OpenAI's library for Python has no parameter for. It sends them in `extra_body`. */
const extraMembers = new Set(["top_k", "min_p", "repetition_penalty"]);

/** Returns a chat request as programs. They read the address from `PARLEY_URL` and the key from `PARLEY_KEY`. */
export const codeSamples = (request: JsonObject, body: string): CodeSample[] => [
  { label: "curl", code: curl(body, request["stream"] === true) },
  { label: "TypeScript · ours", code: ours(request) },
  { label: "TypeScript · openai", code: openaiNode(request) },
  { label: "Python · openai", code: openaiPython(request) },
  { label: "Python · httpx", code: httpx(request) },
  { label: "Vercel AI SDK", code: aiSdkSample(request) },
  { label: "LangChain", code: langchain(request) },
];

/** Returns a request for a list of models, or one model, as a command. */
export const getSample = (path: string): CodeSample => ({
  label: "curl",
  code: `curl "$PARLEY_URL${path.replace("/v1", "")}" -H "Authorization: Bearer $PARLEY_KEY"\n`,
});

const curl = (
  body: string,
  isStream: boolean,
): string => `curl ${isStream ? "-N " : ""}"$PARLEY_URL/chat/completions" \\
  -H "Authorization: Bearer $PARLEY_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${body.replaceAll("'", String.raw`'\''`)}'
`;

const omit = (object: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

function ours(request: JsonObject): string {
  const head = `import { createParley } from "${clientPackage}";\n\nconst parley = createParley();\n`;
  if (request["stream"] !== true) {
    const given = omit(request, ["stream", "stream_options"]);
    return `${head}const answer = await parley.create(${jsLiteral(given)});
console.log(answer.choices[0].message, answer.usage);
`;
  }
  return `${head}const chunks = parley.stream(${jsLiteral(omit(request, ["stream"]))});
for await (const { choices } of chunks) process.stdout.write(choices[0]?.delta.content ?? "");
`;
}

function openaiNode(request: JsonObject): string {
  const isStream = request["stream"] === true;
  const end = isStream
    ? 'for await (const { choices } of answer) process.stdout.write(choices[0]?.delta.content ?? "");'
    : "console.log(answer.choices[0].message, answer.usage);";
  return `import { OpenAI } from "openai";

const client = new OpenAI({ baseURL: process.env.PARLEY_URL, apiKey: process.env.PARLEY_KEY });
const answer = await client.chat.completions.create(${jsLiteral(request)});
${end}
`;
}

function openaiPython(request: JsonObject): string {
  const named = omit(request, [...extraMembers]);
  const extra = Object.fromEntries(Object.entries(request).filter(([name]) => extraMembers.has(name)));
  const given = Object.keys(extra).length === 0 ? named : { ...named, extra_body: extra };
  const lines = Object.entries(given).map(([name, value]) => `    ${name}=${pythonLiteral(value, "    ")},\n`);
  const end =
    request["stream"] === true
      ? 'for chunk in answer:\n    if chunk.choices:\n        print(chunk.choices[0].delta.content or "", end="", flush=True)\n'
      : "print(answer.choices[0].message, answer.usage)\n";
  return `import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])
answer = client.chat.completions.create(
${lines.join("")})
${end}`;
}

function httpx(request: JsonObject): string {
  const isStream = request["stream"] === true;
  const end = isStream
    ? `is_complete = False
with client.stream("POST", "/chat/completions", json=body) as response:
    response.raise_for_status()
    for line in response.iter_lines():
        if not line.startswith("data: "):
            continue  # an empty line, or a comment that keeps the connection open
        data = line.removeprefix("data: ")
        if data == "[DONE]":
            is_complete = True
            break
        event = json.loads(data)
        if "error" in event:
            raise RuntimeError(event["error"]["message"])
        for choice in event["choices"]:
            print(choice["delta"].get("content") or "", end="", flush=True)
if not is_complete:
    raise RuntimeError("There was no [DONE]: the answer is not complete.")
`
    : `response = client.post("/chat/completions", json=body)
response.raise_for_status()
answer = response.json()
print(answer["choices"][0]["message"], answer["usage"])
`;
  return `${isStream ? "import json\n" : ""}import os

import httpx

client = httpx.Client(
    base_url=os.environ["PARLEY_URL"],
    headers={"Authorization": f"Bearer {os.environ['PARLEY_KEY']}"},
    timeout=${isStream ? "60,  # the longest silence; a comment comes at least every 15 seconds" : "610,"}
)
body = ${pythonLiteral(request)}
${end}`;
}

/** LangChain turns a content of null into an empty list, which the service refuses. */
const withText = (messages: Json | undefined): Json =>
  Array.isArray(messages)
    ? messages.map((one) => (isObject(one) && one["content"] === null ? { ...one, content: "" } : one))
    : [];

function langchain(request: JsonObject): string {
  const rest = omit(request, ["model", "messages", "stream", "stream_options"]);
  const kwargs = Object.keys(rest).length === 0 ? "" : `\n  modelKwargs: ${jsLiteral(rest, "  ")},`;
  const end =
    request["stream"] === true
      ? 'for await (const chunk of await model.stream(messages)) process.stdout.write(chunk.text ?? "");'
      : "console.log(await model.invoke(messages));";
  return `import { ChatOpenAI } from "@langchain/openai";

const model = new ChatOpenAI({
  model: ${JSON.stringify(request["model"] ?? "")},
  apiKey: process.env.PARLEY_KEY,
  configuration: { baseURL: process.env.PARLEY_URL },
  useResponsesApi: false,${kwargs}
});
const messages = ${jsLiteral(withText(request["messages"]))};
${end}
`;
}
