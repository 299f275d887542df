import { valueAt } from "@parley/contract/document";
import { escapeHtml } from "../markdown/escape-html.ts";
import type { LinkTargets } from "../markdown/link-targets.ts";
import { renderMarkdown } from "../markdown/render-markdown.ts";
import { tableHtml } from "../markdown/table.ts";
import type { Page } from "../page.ts";
import type { Contract } from "../sources.ts";

/** A model object of the contract's example. The contract's own tests check the shape. */
interface Model {
  readonly id: string;
  readonly context_length: number;
  readonly max_completion_tokens: number;
  readonly pricing: Readonly<Record<"prompt" | "completion" | "request", string>> & {
    readonly input_cache_read?: string;
  };
  readonly supported_features: readonly string[];
}

const intro = `The contract describes two models. A server may offer others: \`GET /v1/models\` lists them with their limits, prices and features
([List the models](/docs/reference/listModels)). Prices are US dollars for each token, as exact decimals in strings. The cost of an answer
is in its \`usage.cost_usd\`.`;

const rules = `## What is charged

- Every token of the prompt, cached ones included, and every generated token, reasoning included.
- A refused request, and a request that the service or its engine failed, cost nothing (OPS-17).
- A client that disconnects pays for the prompt and for the tokens generated until then.`;

/** The page of the models: limits, prices, features, and a calculator of costs. */
export function modelsPage(contract: Contract, targets: LinkTargets): Page {
  const models = examplesOf(contract);
  const head = ["Model", "Context", "Longest answer", "Prompt, per million", "Completion, per million", "Features"];
  const cells = models.map(({ id, context_length, max_completion_tokens, pricing, supported_features }) => [
    `\`${id}\``,
    `${context_length.toLocaleString("en")} tokens`,
    `${max_completion_tokens.toLocaleString("en")} tokens`,
    `$${perMillion(pricing.prompt)}`,
    `$${perMillion(pricing.completion)}`,
    supported_features.join(", "),
  ]);
  const rows = cells.map(([id = "", ...rest]) => [
    `<code>${escapeHtml(id.replaceAll("`", ""))}</code>`,
    ...rest.map((cell) => escapeHtml(cell)),
  ]);
  const table = tableHtml(head, rows, { hasRowNames: true });
  const html = `<p class="crumbs"><a href="/docs/reference">Reference</a> / Models</p>
<h1>Models and prices</h1>
${renderMarkdown(intro, targets).html}${table}
<h2 id="calculator">What an answer costs</h2>
${calculator(models)}
${renderMarkdown(rules, targets).html}`;
  const lines = [head, head.map(() => "---"), ...cells].map((line) => `| ${line.join(" | ")} |`);
  return {
    path: "/docs/reference/models",
    title: "Models and prices",
    summary: "The models of the contract with their limits, features and prices, and a calculator of costs.",
    section: "reference",
    group: "Operations",
    markdown: `# Models and prices\n\n${intro}\n\n${lines.join("\n")}\n\n${rules}\n`,
    html,
    words: "price cost calculator money dollars context length tokens billing",
    scripts: ["models-page"],
  };
}

const examplePointer = "/paths/~1v1~1models/get/responses/200/content/application~1json/examples/models/value/data";

// See `Model`.
const examplesOf = (contract: Contract): readonly Model[] => valueAt(contract, examplePointer) as readonly Model[];

/** The price of a million tokens, from that of one: the decimal point moves by six places. */
export function perMillion(price: string): string {
  const [whole = "", fraction = ""] = price.split(".");
  const digits = fraction.padEnd(6, "0");
  const moved = `${whole}${digits.slice(0, 6)}`.replace(/^0+(?=\d)/, "");
  const rest = digits.slice(6).replace(/0+$/, "");
  return rest === "" ? moved : `${moved}.${rest}`;
}

function calculator(models: readonly Model[]): string {
  const options = models.map(
    ({ id, pricing: { prompt, completion, request, input_cache_read: cached = prompt } }) =>
      `<option data-prompt="${prompt}" data-cached="${cached}" data-completion="${completion}" data-request="${request}">${escapeHtml(id)}</option>`,
  );
  const input = (label: string, name: string, value: string): string =>
    `<label>${label}<input name="${name}" value="${value}" inputmode="decimal" autocomplete="off"></label>`;
  return `<form class="calculator" hidden>
<div class="fields"><label>Model<select name="model">${options.join("")}</select></label>
${input("Prompt tokens", "prompt-tokens", "1200")}${input("Cached ones among them", "cached-tokens", "0")}${input("Completion tokens", "completion-tokens", "400")}${input("Answers", "answers", "1000")}</div>
<div class="fields">${input("Price of a prompt token", "prompt", "0")}${input("Price of a cached one", "cached", "0")}${input("Price of a completion token", "completion", "0")}${input("Price of an answer", "request", "0")}</div>
<p><output aria-live="polite"></output></p>
<details><summary>Use the prices of this server</summary><div class="fields"><label>Your key<input name="key" type="password" autocomplete="off" spellcheck="false"></label><button type="button">Load the models</button></div>
<p>The key stays in this page and is sent to this server only.</p><p role="status"></p></details>
</form><noscript><p>The calculator needs JavaScript.</p></noscript>`;
}
