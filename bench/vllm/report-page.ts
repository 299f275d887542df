import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism, cpus, homedir, totalmem } from "node:os";
import { join } from "node:path";
import { findVllm } from "@parley/inference/vllm";

interface PageOptions {
  readonly root: string;
  /** The folder with the measurements of the parts. */
  readonly folder: string;
  readonly installFolder: string;
  readonly parts: readonly string[];
  readonly isGpu: boolean;
}

type Row = Readonly<Record<string, string | number>>;

/** Writes all measurements as one Markdown page, and lists the parts that were not measured. */
export async function writePage(options: PageOptions): Promise<string> {
  const { folder, parts } = options;
  const rows = (table: string): Row[] => parts.flatMap((part) => rowsOf(join(folder, part, `${table}.jsonl`)));
  const sections = [
    "# vLLM, measured",
    await describeMachine(options),
    "## Command lines",
    `\`\`\`sh\n${planOf(options)}\n\`\`\``,
    "## Tests",
    toTable(
      parts.filter((part) => part !== "bench").flatMap((part) => countsOf(part, join(folder, part, "tests.json"))),
    ),
    "## Faults",
    toTable(rows("faults")),
    "## Greedy parity, llama.cpp and vLLM",
    toTable(rows("parity")),
    toTable(rows("parity-differences"), "No answer was different."),
    "## Through Parley ÷ straight to the engine",
    toTable(rows("bench")),
  ];
  return `${sections.join("\n\n")}\n`;
}

async function describeMachine({ installFolder, isGpu }: PageOptions): Promise<string> {
  const { versionText } = await findVllm(installFolder, installFolder);
  const gpus = isGpu ? execFileSync("nvidia-smi", ["--list-gpus"], { encoding: "utf8" }).trim() : "no GPU";
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `vLLM ${versionText}, Node ${process.version}; ${availableParallelism()} × ${cpus()[0]?.model}, ${memory}, ${gpus}.`;
}

/** Returns the output of `parley engine plan` without the folder names of this machine. */
function planOf({ root, installFolder }: PageOptions): string {
  const cli = join(root, "packages/server/src/cli/main.mjs");
  const env = { ...process.env, PARLEY_ENGINE: "vllm-process", PARLEY_VLLM: installFolder };
  const text = execFileSync(process.execPath, [cli, "engine", "plan"], { encoding: "utf8", env });
  return text.trim().replaceAll(installFolder, "VENV").replaceAll(root, ".").replaceAll(homedir(), "~");
}

interface TestFile {
  readonly name: string;
  readonly assertionResults: readonly { readonly status: string; readonly ancestorTitles: readonly string[] }[];
}

/** Counts the tests by their outermost `describe` blocks. */
function countsOf(part: string, file: string): Row[] {
  if (!existsSync(file)) return [{ part, block: "not run", passed: 0, failed: 0, "not run": 0 }];
  const { testResults } = JSON.parse(readFileSync(file, "utf8")) as { testResults: readonly TestFile[] }; // vitest's own
  const blocks = new Map<string, { passed: number; failed: number; "not run": number }>();
  for (const { status, ancestorTitles } of testResults.flatMap(({ assertionResults }) => assertionResults)) {
    const block = ancestorTitles.find((title) => title.includes("vLLM")) ?? ancestorTitles[0] ?? "others";
    const counts = blocks.get(block) ?? { passed: 0, failed: 0, "not run": 0 };
    counts[status === "passed" || status === "failed" ? status : "not run"] += 1;
    blocks.set(block, counts);
  }
  return [...blocks].map(([block, counts]) => ({ part, block, ...counts }));
}

function rowsOf(file: string): Row[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Row); // written by the tests
}

function toTable(rows: readonly Row[], otherwise = "Not measured."): string {
  const [first] = rows;
  if (!first) return otherwise;
  const names = Object.keys(first);
  const line = (cells: readonly (string | number)[]): string =>
    `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  const body = rows.map((row) => line(names.map((name) => row[name] ?? "")));
  return [line(names), line(names.map(() => "---")), ...body].join("\n");
}
