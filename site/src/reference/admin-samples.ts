import { tabs } from "../markdown/code-block.ts";
import type { ApiDocument } from "../sources.ts";
import { examplesOf } from "./operations.ts";
import type { Endpoint, Part } from "./operations.ts";

/** Samples of an operation of the admin API, made from its example. The server's tests run them. */
export function adminSamples(document: ApiDocument, { method, path, operation }: Endpoint, exampleId: string): Part {
  const [example] = examplesOf(document, operation.requestBody?.content["application/json"]);
  const body = example?.[1].value;
  const samples = [
    { info: "sh curl", text: curlOf(method, path.replace("{id}", exampleId), body) },
    { info: "ts TypeScript · openapi-fetch", text: fetchOf(method, path, exampleId, body) },
  ];
  const blocks = samples.map(({ text, info }) => `\`\`\`${info}\n${text}\n\`\`\``);
  const note = "`PARLEY_ADMIN_URL` is the address of the admin port, and `PARLEY_ADMIN_KEY` is an admin key.";
  return {
    html: `<h2 id="samples">Samples</h2>${tabs(samples)}<p>${note.replaceAll(/`(\w+)`/g, "<code>$1</code>")}</p>`,
    markdown: `## Samples\n\n${blocks.join("\n\n")}\n\n${note}`,
  };
}

function curlOf(method: string, path: string, body: unknown): string {
  const flag = method === "GET" || (method === "POST" && body !== undefined) ? "" : `-X ${method} `;
  const lines = [`curl ${flag}"$PARLEY_ADMIN_URL${path}"`, `-H "Authorization: Bearer $PARLEY_ADMIN_KEY"`];
  if (body !== undefined) lines.push('-H "Content-Type: application/json"', `-d '${JSON.stringify(body)}'`);
  return lines.join(" \\\n  ");
}

function fetchOf(method: string, path: string, exampleId: string, body: unknown): string {
  const options = [
    ...(path.includes("{id}") ? [`params: { path: { id: "${exampleId}" } }`] : []),
    ...(body === undefined ? [] : [`body: ${JSON.stringify(body, undefined, 2).replaceAll("\n", "\n  ")}`]),
    ...(path.endsWith("/export") ? ['parseAs: "text"'] : []),
  ];
  const given = options.length === 0 ? "" : `, {\n  ${options.join(",\n  ")},\n}`;
  return `import createClient from "openapi-fetch";
// openapi-typescript admin-openapi.json -o admin-types.ts
import type { paths } from "./admin-types.ts";

const admin = createClient<paths>({
  baseUrl: process.env["PARLEY_ADMIN_URL"],
  headers: { authorization: \`Bearer \${process.env["PARLEY_ADMIN_KEY"]}\` },
});
const { data, error } = await admin.${method}("${path}"${given});
if (error) throw new Error(error.error.message);
console.log(data);`;
}
