import { tabs } from "../markdown/code-block.ts";
import type { CodeSample } from "../markdown/code-block.ts";
import type { Sources } from "../sources.ts";
import type { Part } from "./operations.ts";

/** The section of a guide whose samples call an operation. Tests run them. */
const sampleSections: Readonly<Record<string, readonly [guide: string, heading: string]>> = {
  createChatCompletion: ["quick-start", "First answer"],
  listModels: ["quick-start", "The models"],
  retrieveModel: ["quick-start", "One model"],
  retrieveKey: ["your-account", "The state of your key"],
  retrieveReceipt: ["your-account", "A receipt"],
};

/** The labels of samples that the page contains. The tabs of the others load theirs, so that the page stays light. */
const containedLabels = new Set(["curl", "TypeScript · ours", "Python · openai"]);

/** Returns the samples of an operation in all languages, and the files of those that the page does not contain. */
export function operationSamples(operationId: string, guides: Sources["guides"]): Part {
  const [guide, heading] = sampleSections[operationId] ?? [];
  if (guide === undefined) throw new Error(`the operation ${operationId} has no samples`);
  const [, section = ""] = guides.get(guide)?.split(`\n## ${heading}\n`) ?? [];
  const found = (section.split("\n## ")[0] ?? "").matchAll(
    /^<!-- from \S*?([^/\s]+) -->\n+```(\w+ \S.*)\n([^]*?)^```$/gm,
  );
  const files = new Map<string, string>();
  const samples = [...found].map(([, file = "", info = "", text = ""]): CodeSample => {
    if (containedLabels.has(info.replace(/^\w+ /, ""))) return { text: text.trimEnd(), info };
    const src = `/docs/reference/${operationId}/${file}`;
    files.set(src, text);
    return { text, info, src };
  });
  if (samples.length === 0) throw new Error(`the guide ${guide} has no samples under "${heading}"`);
  const blocks = samples.map(({ text, info }) => `\`\`\`${info}\n${text.trimEnd()}\n\`\`\``);
  return {
    html: `<h2 id="samples">Samples</h2>${tabs(samples)}<p><a href="/docs/guides/${guide}">The guide</a> says what each sample needs.</p>`,
    markdown: `## Samples\n\n${blocks.join("\n\n")}\n\nThe guide [${guide}](/docs/guides/${guide}) says what each sample needs.`,
    files,
  };
}
