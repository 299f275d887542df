import { setImmediate as nextTurn } from "node:timers/promises";
import { AnswerParser } from "../../src/answer/answer-parser.ts";
import type { ParserOutput } from "../../src/answer/answer-parser.ts";
import { combineChoices } from "../../src/answer/combine-choices.ts";
import type { ChoiceDelta } from "../../src/answer/combine-choices.ts";
import { planAnswer } from "../../src/answer/plan-answer.ts";
import { endWithParent } from "../../src/child/end-with-parent.ts";
import { Progress } from "../../src/child/progress.ts";
import { sendStatus, serveEngine } from "../../src/child/serve.ts";
import type { EngineMetadata, Generation, PromptRequest } from "../../src/engine.ts";
import { fingerprint } from "../../src/fingerprint.ts";
import { toTemplateMessages } from "../../src/prompt/template-messages.ts";
import { specialToken } from "../../src/prompt/special-tokens.ts";
import { smallestValue } from "@parley/json-schema-grammar";
import { splitWords, tokenOf } from "../../src/scripted/child/words.ts";
import { neutral } from "../../testing/requests.ts";

/** The metadata of this model. */
const metadata: EngineMetadata = {
  contextLength: 2048,
  quantization: "none",
  systemFingerprint: fingerprint(["echo", "1"]),
  slots: 8,
  canReason: true,
  canCallTools: true,
  samplingDefaults: neutral,
  description: "repeats what the caller said",
};

const progress = new Progress();
let running = 0;

/** The prompt of this model: a real one would have token ids. */
interface Said {
  readonly tokens: number;
  readonly text: string;
}

function render({ messages }: PromptRequest): Said {
  const rendered = toTemplateMessages(messages, "in front");
  const text = rendered.findLast(({ role }) => role === "user")?.content ?? "";
  return { tokens: splitWords(JSON.stringify(rendered)).length, text };
}

async function* generate(said: Said, request: Generation): ReturnType<typeof combineChoices> {
  running += request.n;
  try {
    yield* combineChoices(Array.from({ length: request.n }, () => writeChoice(said, request)));
  } finally {
    running -= request.n;
  }
}

/** The loop of every engine: the parser says what must be written next, the model samples, the parser reads it. */
async function* writeChoice(said: Said, request: Generation): AsyncGenerator<readonly ChoiceDelta[]> {
  const parser = new AnswerParser(planAnswer(request, metadata), false);
  const counted = { promptTokens: said.tokens, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  const count = (tokens: number): void => {
    const written = Math.min(tokens, request.maxTokens - counted.completionTokens);
    counted.completionTokens += written;
    if (parser.mode === "reasoning") counted.reasoningTokens += written;
  };
  const words = wordsFor(said, request);
  const next = async (): Promise<ParserOutput> => {
    if (counted.completionTokens === request.maxTokens) return parser.truncate();
    const [word] = await progress.measure(1, () => nextTurn(words.splice(0, 1)));
    count(1);
    return word === undefined ? parser.end() : parser.push(tokenOf(word, request.topLogprobs));
  };
  for (let output = parser.open(); ; output = await next()) {
    count(output.force?.length ?? 0);
    yield output.deltas.map((delta) => ({ delta, counted: { ...counted } }));
    if (output.finish !== undefined) return yield [{ delta: { kind: "finish", reason: output.finish }, counted }];
  }
}

/** The tokens that this model prefers. Each is a word. */
function wordsFor(said: Said, request: Generation): string[] {
  const thought = request.isReasoning ? [...splitWords("The caller says something."), specialToken.thinkEnd] : [];
  return [...thought, ...splitWords(answerTo(said, request))];
}

/** Returns a text that a model could write under the grammars of the request. */
function answerTo(said: Said, { format, tools, toolChoice }: Generation): string {
  if (typeof toolChoice === "object") {
    const tool = tools.find(({ name }) => name === toolChoice.oneOf[0]);
    const schema = tool?.parameters ?? { additionalProperties: false };
    const value = JSON.stringify(smallestValue(schema, { isObject: true }));
    // The grammar of a call demands exactly these characters, including the blanks.
    return `{"name": "${tool?.name}", "arguments": ${value}}`;
  }
  if (format.type === "json_object") return JSON.stringify({ said: said.text });
  return format.type === "text" ? `You said: ${said.text}` : JSON.stringify(smallestValue(format.schema));
}

endWithParent();
const [socketPath = ""] = process.argv.slice(2);
await serveEngine(
  {
    prepare: async (request) => {
      const prompt = render(request);
      return { tokens: prompt.tokens, prompt };
    },
    generate,
    status: () => ({ running, waiting: 0, computing: progress.computing, progress: progress.tokens }),
  },
  socketPath,
);
sendStatus({ status: "ready", metadata });
