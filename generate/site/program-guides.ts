import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { programsFolder, readResult, tools } from "@parley/partners";
import type { Tool } from "@parley/partners";

/** Checks for files that a program needs and that readers do not look at. */
const isForPrograms = (file: string): boolean => /(^|\/)(result|limit|package-lock)\.json$|\.(sum|lock)$/.test(file);

const languages: Readonly<Record<string, string>> = { ".mjs": "js", ".rs": "rust", ".rb": "ruby", ".kt": "kotlin" };

/** Returns the guide to each program that works, as Markdown, by the tool's name. */
export const programGuides = (): Map<string, string> =>
  new Map(tools.filter(works).map((tool) => [tool.name, programGuide(tool)]));

/** Checks that the client does everything that the contract asks of a client. The remarks cover new values. */
function works(tool: Tool): boolean {
  const { generate, compile, answer, error, stream } = readResult(tool) ?? {};
  return [generate, compile, answer, error, stream].every((cell) => cell === "passed");
}

function programGuide(tool: Tool): string {
  const folder = join(programsFolder, tool.name);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((file) => !isForPrograms(file))
    .toSorted();
  const parts = files.map((file) => `## ${file}\n\n${block(extname(file), readFileSync(join(folder, file), "utf8"))}`);
  return `# ${tool.language} with ${tool.title}

Version ${tool.version}, with \`${tool.document}\` of the server as \`openapi.json\`. ${tool.remarks}

## Commands

${block(".sh", `VERSION=${tool.version}\n${[...tool.generate, ...tool.compile, tool.run].join("\n")}\n`)}
${parts.join("\n")}`;
}

function block(extension: string, text: string): string {
  // Four backticks, because a README contains blocks with three.
  return `\`\`\`\`${languages[extension] ?? extension.slice(1)}\n${text.trimEnd()}\n\`\`\`\`\n`;
}
