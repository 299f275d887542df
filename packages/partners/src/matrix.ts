import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Cell, Row } from "./run-tool.ts";
import type { Tool } from "./tools.ts";

/** What the last run of each tool gave, by the tool's name. */
export type Results = Readonly<Record<string, Row & { readonly version: string }>>;

export const matrixFile = fileURLToPath(new URL("../MATRIX.md", import.meta.url));
export const resultsFile = fileURLToPath(new URL("../results.json", import.meta.url));

export const readResults = (): Results => JSON.parse(readFileSync(resultsFile, "utf8")) as Results; // our own

/** Keeps the rows of tools that did not run. */
export function writeMatrix(tools: readonly Tool[], fresh: Results): void {
  const results = { ...readResults(), ...fresh };
  writeFileSync(resultsFile, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(matrixFile, renderMatrix(tools, results));
}

const signs: Readonly<Record<Cell, string>> = { passed: "✓", failed: "✗", "not run": "–" };
const stages = ["generate", "compile", "answer", "error", "stream"] as const;

const preface = `# Generators that read the contract

\`pnpm partners\` wrote this table: ✓ works, ✗ fails, – did not run. Each name leads to the program that was run.

- **generate, compile**: the client is generated from the document as it is served, and compiled strictly with its program.
- **answer**: lists the models, and gets an answer to a request with a tool and a JSON schema.
- **error**: gets an error as a type, with its code.
- **stream**: reads typed chunks, the error that ends a broken stream, and notices a stream without \`[DONE]\`.
`;

export function renderMatrix(tools: readonly Tool[], results: Results): string {
  const head = ["tool", "version", "language", "document", ...stages, "remarks"];
  const rows = tools.map(({ name, title, version, language, document, remarks }) => {
    const cells = stages.map((stage) => signs[results[name]?.[stage] ?? "not run"]);
    return [`[${title}](programs/${name})`, version, language, document, ...cells, remarks];
  });
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return `${preface}\n${lines.join("\n")}\n`;
}
