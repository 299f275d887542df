// Compares llama.cpp and Node's template engine with transformers: they must give the same text, tokens and answers. Writes the
// speed of llama.cpp on one thread to `speed.json` next to the cases: model → tokens per second, without prompts.
//   python -m training.build crosscheck      writes the cases
//   node compare.mjs CASES.json              (node-llama-cpp and @huggingface/jinja must be installed)
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createRequire } from "node:module";

const here = dirname(fileURLToPath(import.meta.url));
// Packages are looked for where the command is run.
const require = createRequire(join(process.cwd(), "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

const { Template } = await load("@huggingface/jinja");
const { getLlama } = await load("node-llama-cpp");
const cases = JSON.parse(readFileSync(process.argv[2], "utf8"));
const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: "error" });

function report(title, results) {
  const wrong = results.filter(({ given, wanted }) => given !== wanted);
  console.log(`${title}: ${results.length - wrong.length} of ${results.length} the same`);
  for (const { name, given, wanted } of wrong) {
    console.log(`  ${name}\n    llama.cpp or Node: ${given}\n    transformers:      ${wanted}`);
  }
  return wrong.length;
}

const render = (template, { messages, tools, thinking }) =>
  template.render({ messages, tools, add_generation_prompt: true, enable_thinking: thinking });

const clock = { tokens: 0, ms: 0 };

async function answer(model, sequence, prompt) {
  await sequence.clearHistory();
  const written = [];
  let began;
  for await (const token of sequence.evaluate(model.tokenize(prompt, true), { temperature: 0 })) {
    began ??= performance.now();
    if (model.isEogToken(token) || written.length === 320) break;
    written.push(token);
  }
  clock.tokens += written.length;
  clock.ms += performance.now() - began;
  return model.detokenize(written, true);
}

async function compare(name, { templates, tokens, greedy }) {
  const model = await llama.loadModel({ modelPath: join(here, name, `${name}.bf16.gguf`) });
  const context = await model.createContext({ contextSize: 4096, threads: 1, sequences: 1 });
  const sequence = context.getSequence();
  const template = new Template(model.fileInfo.metadata.tokenizer.chat_template);
  const texts = templates.map((c) => ({ name: c.title, given: render(template, c), wanted: c.text }));
  const ids = (text, marks) => JSON.stringify(model.tokenize(text, marks));
  const prompts = templates.map((c) => ({ name: c.title, given: ids(c.text, true), wanted: JSON.stringify(c.ids) }));
  const plain = tokens.map((c) => ({
    name: JSON.stringify(c.text),
    given: ids(c.text, false),
    wanted: JSON.stringify(c.ids),
  }));
  const answers = [];
  for (const { kind, prompt, answer: wanted } of greedy) {
    answers.push({ name: kind, given: await answer(model, sequence, prompt), wanted });
  }
  const failed =
    report(`${name}: rendered templates`, texts) +
    report(`${name}: tokens of prompts`, prompts) +
    report(`${name}: tokens of texts`, plain);
  report(`${name}: greedy answers`, answers);
  await context.dispose();
  await model.dispose();
  return failed;
}

let failed = 0;
const speed = {};
for (const [name, part] of Object.entries(cases)) {
  Object.assign(clock, { tokens: 0, ms: 0 });
  failed += await compare(name, part);
  speed[name] = Math.round((clock.tokens / clock.ms) * 1000);
  console.log(`${name}: ${speed[name]} tokens/s on one thread`);
}
writeFileSync(join(dirname(process.argv[2]), "speed.json"), JSON.stringify(speed));
await llama.dispose();
process.exitCode = failed > 0 ? 1 : 0;
