import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { programsFolder, readResult, tools } from "@parley/partners";
import type { Tool } from "@parley/partners";

/** Of what a program needs no reader looks at these. */
const isForPrograms = (file: string): boolean => /(^|\/)(result|limit|package-lock)\.json$|\.(sum|lock)$/.test(file);

const languages: Readonly<Record<string, string>> = { ".mjs": "js", ".rs": "rust", ".rb": "ruby", ".kt": "kotlin" };

/** By the tool's name: the guide to one program that works, as Markdown. */
export const programGuides = (): Map<string, string> =>
  new Map(tools.filter(works).map((tool) => [tool.name, programGuide(tool)]));

/** Whether the client does all that the contract asks of one. New values are another matter, see the remarks. */
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
  // Four, since a README has blocks of its own.
  return `\`\`\`\`${languages[extension] ?? extension.slice(1)}\n${text.trimEnd()}\n\`\`\`\`\n`;
}
