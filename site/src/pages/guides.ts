import type { Page } from "../page.ts";
import type { Sources } from "../sources.ts";
import { generatorMatrix, matrixPath } from "./programs.ts";

/** Every guide, by group, in the order of the list. A guide is `docs/guides/NAME.md`; `client` is the README of the client. */
const guideGroups: Readonly<Record<string, readonly string[]>> = {
  "Start here": ["quick-start", "coming-from-another-service", "your-app", "client"],
  "Use the API": [
    "streaming",
    "reading-streams",
    "errors",
    "limits",
    "tools",
    "structured-output",
    "reasoning",
    "tokens-and-cost",
    "your-account",
  ],
  "Tools for partners": ["generators", "mock-and-collections", "schemathesis"],
  "Implement the contract": ["implementing", "conformance", "results", "sdks-judged", "scripted-engine", "bounds"],
  "Run the service": [
    "first-run",
    "operators-day",
    "own-model",
    "vllm",
    "keys-and-limits",
    "admin-api",
    "identity",
    "usage",
    "backup",
    "metrics",
    "tracing",
    "services",
    "operating",
    "laptop-to-cluster",
    "from-one-to-many",
    "kubernetes",
    "upgrades",
    "configuration",
    "fronts",
    "vllm-measured",
  ],
};

export const guideNames: readonly string[] = Object.values(guideGroups).flat();

/** Words by which the search finds a guide that does not contain them. */
const words: Readonly<Record<string, string>> = {
  streaming: "cancel stop abort hang up disconnect SSE events",
  errors: "retry backoff 429 503 wait failure",
  "keys-and-limits": "rate limit 429 quota budget",
  "first-run": "install start quick operator",
  "laptop-to-cluster": "migrate SQLite PostgreSQL Postgres scale production move",
  "from-one-to-many": "replicas cluster PostgreSQL Postgres Valkey Redis scale several servers",
  kubernetes: "Helm chart cluster pods HPA KEDA autoscaling llm-d KServe Dynamo Ray production-stack",
  tracing: "OpenTelemetry OTLP spans traceparent GenAI",
  "admin-api": "portal teams groups audit log scopes owner provisioning",
  identity: "JWT OIDC SSO token login JWKS",
  metrics: "Prometheus alerts monitoring health ready",
  backup: "restore copy database",
  services: "systemd Docker Kubernetes supervisor deploy",
  implementing: "norm clauses server gateway",
  usage: "cost price money billing tokens",
  limits: "rate limit 429 quota budget x-ratelimit",
  tools: "function calling agents tool_calls",
  "structured-output": "JSON mode schema response_format zod pydantic",
  reasoning: "thinking chain of thought reasoning_effort",
  "tokens-and-cost": "usage price money billing count tokenizer",
  "your-account": "key limits budget left receipt request id cost self-service",
  "quick-start": "first request hello world install SDK curl",
  "coming-from-another-service": "OpenAI migrate compatible differences vLLM Ollama Anthropic",
  results: "LiteLLM vLLM Portkey OpenRouter compatible gateway comparison matrix badge",
  "sdks-judged": "openai LangChain AI SDK client comparison matrix",
  "your-app": "OpenAI base URL LangChain SDK settings",
};

/** Returns the page of each guide, and the front page of the part. */
export function guidePages({ guides, clientReadme }: Sources): Page[] {
  const pages = Object.entries(guideGroups).flatMap(([group, names]) =>
    names.map((name) => guidePage(name, name === "client" ? clientReadme : (guides.get(name) ?? ""), group)),
  );
  return [guideIndex(pages), ...pages];
}

function guidePage(name: string, text: string, group: string): Page {
  const markdown = text.replaceAll(/<!--[^]*?-->\n*/g, "").trimStart();
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? "";
  if (title === "") throw new Error(`The guide ${name} has no title or is missing in docs/guides.`);
  return {
    path: `/docs/guides/${name}`,
    title,
    summary: firstSentence(markdown),
    section: "guides",
    group,
    markdown,
    ...(words[name] === undefined ? {} : { words: words[name] }),
    ...(name === "generators" && { files: new Map([[matrixPath, generatorMatrix()]]) }),
  };
}

/** Returns the first sentence of the text behind the title, without Markdown. */
export function firstSentence(markdown: string): string {
  const paragraph = markdown.split(/\n{2,}/).find((block) => /^(?!```)[A-Z`[*]/.test(block)) ?? "";
  const plain = paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .replaceAll(/\s+/g, " ");
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, ".") ?? plain;
}

function guideIndex(pages: readonly Page[]): Page {
  const parts = [...Map.groupBy(pages, ({ group = "" }) => group)].map(([group, members]) => {
    const items = members.map(({ title, path, summary }) => `- [${title}](${path}): ${summary}`);
    return `## ${group}\n\n${items.join("\n")}\n`;
  });
  return {
    path: "/docs/guides",
    title: "Guides",
    label: "All guides",
    summary: "A page for each task: for callers, for partners' tools, for implementers and for operators.",
    section: "guides",
    markdown: `# Guides\n\nA page for each task: for callers, for partners' tools, for implementers and for operators.\n\n${parts.join("\n")}`,
  };
}
