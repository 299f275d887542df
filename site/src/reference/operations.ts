import { codeBlock, tabs } from "../markdown/code-block.ts";
import { escapeHtml, textOf } from "../markdown/escape-html.ts";
import type { LinkTargets } from "../markdown/link-targets.ts";
import { renderInline, renderMarkdown } from "../markdown/render-markdown.ts";
import { tableHtml } from "../markdown/table.ts";
import type { Page, Section } from "../page.ts";
import type { ApiDocument, JsonObject } from "../sources.ts";
import { membersOf, resolve } from "./members.ts";
import type { Member } from "./members.ts";
import { membersHtml, membersMarkdown } from "./show-members.ts";

/** An operation of the contract, as far as its page shows it. The contract's own tests check the shape. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** The scope that a key needs, in the admin API. */
  readonly "x-scope"?: string;
  readonly parameters?: readonly JsonObject[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, JsonObject>>;
}

interface Media {
  readonly schema: JsonObject;
  readonly examples?: Readonly<Record<string, JsonObject>>;
  readonly "x-transcripts"?: Readonly<Record<string, { readonly summary: string; readonly value: string }>>;
}

interface Answer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, JsonObject>>;
  readonly content?: Readonly<Record<string, Media>>;
}

/** An example of a body. */
interface Example {
  readonly summary: string;
  readonly value: unknown;
}

/** Returns the examples of a body by name, behind their references. */
export const examplesOf = (document: ApiDocument, media: Media | undefined): [name: string, example: Example][] =>
  Object.entries(media?.examples ?? {}).map(([name, one]) => [
    name,
    // The contract's own tests check the shape of an example.
    resolve(document, one).schema as unknown as Example,
  ]);

/** An operation and its address. */
export interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** A reference: a document of OpenAPI, and the place and links of its pages. */
export interface Reference {
  readonly document: ApiDocument;
  /** The address of its overview. Its other pages are below. */
  readonly path: string;
  readonly title: string;
  readonly section: Section;
  readonly targets: LinkTargets;
  /** Returns the heading under which an operation is listed. */
  readonly groupOf: (operation: Operation) => string;
  readonly samplesOf: (endpoint: Endpoint) => Part;
  /** Returns the code of a status that comes before any operation. */
  readonly edgeCodeOf: (status: string) => string | undefined;
  /** The address of the page that sends requests, if it can send those of this document. */
  readonly tryPath?: string;
}

export const endpointsOf = ({ paths }: ApiDocument): Endpoint[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    ["get", "post", "patch", "delete"].flatMap((method) => {
      // The contract's own tests check the shape of an operation.
      const operation = item[method] as unknown as Operation | undefined;
      return operation ? [{ method: method.toUpperCase(), path, operation }] : [];
    }),
  );

/** A section of the page, in both forms. */
export interface Part {
  readonly html: string;
  readonly markdown: string;
  /** Files that the section links to, by address. */
  readonly files?: ReadonlyMap<string, string>;
}

/** Returns the page of an operation. */
export function operationPage(reference: Reference, endpoint: Endpoint): Page {
  const { document: contract, targets } = reference;
  const { method, path, operation } = endpoint;
  const { operationId, summary, description, tags, parameters = [], requestBody, "x-scope": scope } = operation;
  const about = scope === undefined ? description : `${description.trim()} It needs the scope \`${scope}\`.`;
  const parts: Part[] = [
    prose(about, targets),
    reference.samplesOf(endpoint),
    ...(parameters.length === 0
      ? []
      : [
          membersPart(
            "Parameters",
            parameters.map((one) => parameterOf(contract, one)),
            targets,
            "parameter.",
          ),
        ]),
    ...(requestBody ? requestParts(reference, operationId, requestBody.content["application/json"]) : []),
    ...Object.entries(operation.responses).map(([status, answer]) => answerPart(reference, status, answer)),
  ];
  const tryLink =
    reference.tryPath === undefined ? "" : ` <a class="try-link" href="${reference.tryPath}#${operationId}">Try it</a>`;
  const html = `<p class="crumbs"><a href="${reference.path}">${reference.title}</a> / ${escapeHtml(tags[0] ?? "")}</p>
<h1>${escapeHtml(summary)}</h1>
<p class="endpoint"><span class="method">${method}</span> <code>${escapeHtml(path)}</code>${tryLink}</p>
${parts.map((part) => part.html).join("\n")}`;
  const markdown = `# ${summary}\n\n\`${method} ${path}\`\n\n${parts.map((part) => part.markdown).join("\n\n")}\n`;
  const words = `${operationId} ${method} ${path}`;
  return {
    path: `${reference.path}/${operationId}`,
    title: summary,
    summary: `${method} ${path}: ${summary}.`,
    section: reference.section,
    group: reference.groupOf(operation),
    label: summary,
    markdown,
    html,
    words,
    files: new Map(parts.flatMap(({ files = [] }) => [...files])),
  };
}

const prose = (text: string, targets: LinkTargets): Part => ({
  html: renderMarkdown(text, targets).html,
  markdown: text.trim(),
});

function membersPart(title: string, members: readonly Member[], targets: LinkTargets, prefix: string): Part {
  const id = title.toLowerCase().replaceAll(" ", "-");
  return {
    html: `<h2 id="${id}">${title}</h2>${membersHtml(members, targets, prefix)}`,
    markdown: `## ${title}\n\n${membersMarkdown(members)}`,
  };
}

function parameterOf(contract: ApiDocument, outer: JsonObject): Member {
  const { schema: parameter } = resolve(contract, outer);
  // A parameter has these members by OpenAPI's rules.
  const {
    name,
    in: place,
    required,
    description,
    schema,
  } = parameter as { name: string; in: string; required?: boolean; description: string; schema: JsonObject };
  const [inner] = membersOf(contract, { properties: { [name]: schema } }, "");
  return {
    name,
    id: name,
    pointer: "",
    type: `${inner?.type ?? "string"}, in the ${place}`,
    isRequired: required === true,
    facts: inner?.facts ?? [],
    description,
    children: [],
  };
}

function requestParts(
  { document: contract, path, targets }: Reference,
  operationId: string,
  media: Media | undefined,
): Part[] {
  if (!media) return [];
  const samples = examplesOf(contract, media).map(([name, { summary, value }], at) => ({
    text: JSON.stringify(value, undefined, 2),
    info: `json ${summary}`,
    // The page contains the first example only, so that it stays light.
    ...(at > 0 && { src: `${path}/${operationId}/${name}.json` }),
  }));
  return [
    membersPart("Body", membersOf(contract, media.schema, ""), targets, ""),
    {
      html: `<h2 id="example-bodies">Example bodies</h2>${tabs(samples)}`,
      markdown: `## Example bodies\n\n${samples.map(({ text, info }) => `\`\`\`${info}\n${text}\n\`\`\``).join("\n\n")}`,
      files: new Map(samples.flatMap(({ src, text }) => (src === undefined ? [] : [[src, text] as const]))),
    },
  ];
}

function answerPart(reference: Reference, status: string, outer: JsonObject): Part {
  const { document: contract, targets } = reference;
  // The contract's own tests check the shape of an answer.
  const answer = resolve(contract, outer).schema as unknown as Answer;
  const bodies = Object.entries(answer.content ?? {});
  const isSuccess = status.startsWith("2");
  const edge = reference.edgeCodeOf(status);
  const examples = bodies.flatMap(([, media]) => Object.keys(media.examples ?? {}));
  const codes = isSuccess ? [] : [...examples, ...(edge === undefined ? [] : [edge])];
  const codeList = codes
    .map((code) => [code, targets.ofCode(code)] as const)
    .flatMap(([code, target]) => (target === undefined ? [] : [`[\`${code}\`](${target})`]));
  const shown = bodies.map(([type, media]) =>
    isSuccess ? successBody(contract, type, media, targets) : { html: "", markdown: "" },
  );
  const headers = headersPart(contract, answer.headers ?? {}, targets);
  const title = `Answer ${status}`;
  const about = `${answer.description.trim()}${codeList.length > 0 ? `\n\nCodes: ${[...new Set(codeList)].join(", ")}.` : ""}`;
  return {
    html: `<h2 id="answer-${status}">${title}</h2>${renderMarkdown(about, targets).html}${shown.map(({ html }) => html).join("")}${headers.html}`,
    markdown: [`## ${title}`, about, ...shown.map(({ markdown }) => markdown), headers.markdown]
      .filter((one) => one !== "")
      .join("\n\n"),
  };
}

function successBody(contract: ApiDocument, type: string, media: Media, targets: LinkTargets): Part {
  const { schema, "x-transcripts": transcripts } = media;
  const members = membersOf(contract, schema, "");
  const samples = transcripts
    ? Object.values(transcripts)
        .slice(0, 1)
        .map(({ summary, value }) => ({ text: value.trim(), info: `sse ${summary}` }))
    : examplesOf(contract, media).map(([, { summary, value }]) => ({
        text: JSON.stringify(value, undefined, 2),
        info: `json ${summary}`,
      }));
  const id = type.replaceAll(/\W+/g, "-");
  const show = samples.length === 1 ? samples.map(({ text, info }) => codeBlock(text, info)).join("") : tabs(samples);
  const aside = transcripts
    ? '<p>The data of each event is one of the objects below. <a href="/docs/reference/stream">The stream</a> shows their order and more streams.</p>'
    : "";
  return {
    html: `<h3 id="${id}"><code>${type}</code></h3>${aside}${membersHtml(members, targets, `${id}.`)}${show}`,
    markdown: `### \`${type}\`\n\n${membersMarkdown(members)}\n\n${samples.map(({ text, info }) => `\`\`\`${info}\n${text}\n\`\`\``).join("\n\n")}`,
  };
}

function headersPart(contract: ApiDocument, headers: Readonly<Record<string, JsonObject>>, targets: LinkTargets): Part {
  const rows = Object.entries(headers).map(([name, outer]) => {
    const { schema: header } = resolve(contract, outer);
    const description = typeof header["description"] === "string" ? header["description"] : "";
    return {
      name,
      description: description.replaceAll(/\s*\n\s*/g, " ").trim(),
      isAlways: header["required"] === true,
    };
  });
  if (rows.length === 0) return { html: "", markdown: "" };
  const cells = rows.map(({ name, description, isAlways }) => [
    `<code>${escapeHtml(name)}</code>`,
    isAlways ? "always" : "sometimes",
    renderInline(description, targets),
  ]);
  const table = tableHtml(["Header", "Sent", "Meaning"], cells, { hasRowNames: true });
  return {
    html: `<details class="headers"><summary>${rows.length === 1 ? "1 header" : `${rows.length} headers`}</summary>${table}</details>`,
    markdown: `Headers:\n\n${rows.map(({ name, description }) => `- \`${name}\`: ${textOf(description)}`).join("\n")}`,
  };
}
