import type { LinkTargets } from "../markdown/link-targets.ts";
import { tableHtml } from "../markdown/table.ts";
import type { Page } from "../page.ts";
import { adminSamples } from "../reference/admin-samples.ts";
import { endpointsOf, operationPage } from "../reference/operations.ts";
import type { Endpoint, Reference } from "../reference/operations.ts";
import { schemaPages } from "../reference/schema-page.ts";
import { adminFile } from "../sources.ts";
import type { AdminDocument, Sources } from "../sources.ts";

/** Returns the pages of the admin API: an overview, each operation, the errors, and each schema. */
export function adminPages({ admin }: Sources, targets: LinkTargets): Page[] {
  const places = new Map(admin.tags.map(({ name }, at) => [name, at]));
  const placeOf = ({ operation }: Endpoint): number => places.get(operation.tags[0] ?? "") ?? 0;
  const endpoints = endpointsOf(admin).toSorted((one, other) => placeOf(one) - placeOf(other));
  const reference: Reference = {
    document: admin,
    path: "/docs/admin",
    title: "Admin API",
    section: "admin",
    targets: {
      ...targets,
      ofCode: (code) => (code in admin["x-error-catalog"] ? `/docs/admin/errors#${code}` : targets.ofCode(code)),
      // The clauses are about the other contract.
      clausesAt: () => [],
    },
    groupOf: ({ tags }) => tags[0] ?? "",
    samplesOf: (endpoint) => adminSamples(admin, endpoint, idIn(endpoint)),
    edgeCodeOf: () => undefined,
  };
  return [
    overview(admin, endpoints),
    errorPage(admin["x-error-catalog"]),
    ...endpoints.map((endpoint) => operationPage(reference, endpoint)),
    ...schemaPages(reference, []),
  ];
}

const exampleIds: Readonly<Record<string, string>> = {
  "/groups/": "grp_0123456789ab",
  "/admin-keys/": "abcdef012345",
  "/requests/": "req_9f2c7d1e5b8a4036",
};

/** Returns an id of the kind that a path has. */
const idIn = ({ path }: Endpoint): string =>
  Object.entries(exampleIds).find(([part]) => path.includes(part))?.[1] ?? "0123456789ab";

function overview({ info, tags }: AdminDocument, endpoints: readonly Endpoint[]): Page {
  const parts = tags.map(({ name, description }) => {
    const rows = endpoints
      .filter(({ operation }) => operation.tags[0] === name)
      .map(
        ({ method, path, operation: { operationId, summary, "x-scope": scope } }) =>
          `| [${summary}](/docs/admin/${operationId}) | \`${method} ${path}\` | ${scope === undefined ? "" : `\`${scope}\``} |`,
      );
    return `### ${name}\n\n${description}\n\n| Operation | Address | Scope |\n| --- | --- | --- |\n${rows.join("\n")}`;
  });
  return {
    path: "/docs/admin",
    title: "Reference of the admin API",
    label: "Overview",
    summary: info.summary,
    section: "admin",
    markdown: `# Reference of the admin API

Version ${info.version} of its contract, [\`${adminFile}\`](/${adminFile}). The [guide](/docs/guides/admin-api) shows the first steps.

## Operations

${parts.join("\n\n")}

## About it

${info.description}`,
    words: "portal keys groups audit scopes owner",
  };
}

function errorPage(catalog: AdminDocument["x-error-catalog"]): Page {
  const entries = Object.entries(catalog);
  const heads = ["Code", "Status", "Type", "Remedy"];
  const markdownRows = entries.map(
    ([code, { status, type, remedy }]) => `| \`${code}\` | ${status} | \`${type}\` | ${remedy} |`,
  );
  const htmlRows = entries.map(([code, { status, type, remedy }]) => [
    `<code id="${code}">${code}</code>`,
    String(status),
    `<code>${type}</code>`,
    remedy.replaceAll(/`([^`]+)`/g, "<code>$1</code>"),
  ]);
  const intro = "The list is closed. A request that gets a status below 500 has changed nothing.";
  return {
    path: "/docs/admin/errors",
    title: "Errors of the admin API",
    label: "Errors",
    summary: "Every error code of the admin API, with its status, type and remedy.",
    section: "admin",
    markdown: `# Errors of the admin API\n\n${intro}\n\n| ${heads.join(" | ")} |\n| --- | --- | --- | --- |\n${markdownRows.join("\n")}\n`,
    html: `<p class="crumbs"><a href="/docs/admin">Admin API</a> / Errors</p>
<h1>Errors of the admin API</h1>
<p>${intro}</p>
${tableHtml(heads, htmlRows, { hasRowNames: true })}`,
    words: entries.map(([code]) => code).join(" "),
  };
}
