import type { LinkTargets } from "../markdown/link-targets.ts";
import type { Page } from "../page.ts";
import { endpointsOf, operationPage } from "../reference/operations.ts";
import type { Reference } from "../reference/operations.ts";
import { modelsPage } from "../reference/models-page.ts";
import { operationSamples } from "../reference/operation-samples.ts";
import { schemaPages } from "../reference/schema-page.ts";
import { streamPage } from "../reference/stream-page.ts";
import type { Sources } from "../sources.ts";

/** Returns the pages of the reference: an overview, each operation, the stream, and each schema. */
export function referencePages({ contract, clauses, guides }: Sources, targets: LinkTargets): Page[] {
  const endpoints = endpointsOf(contract);
  const reference: Reference = {
    document: contract,
    path: "/docs/reference",
    title: "Reference",
    section: "reference",
    targets,
    groupOf: () => "Operations",
    samplesOf: ({ operation: { operationId } }) => operationSamples(operationId, guides),
    edgeCodeOf: (status) => contract["x-edge-statuses"][status]?.code,
    tryPath: "/docs/try",
  };
  const { description, summary, version } = contract.info;
  const rows = endpoints.map(
    ({ method, path, operation: { operationId, summary: title } }) =>
      `| [${title}](/docs/reference/${operationId}) | \`${method} ${path}\` |`,
  );
  const overview: Page = {
    path: "/docs/reference",
    title: "The API",
    label: "Overview",
    summary,
    section: "reference",
    markdown: `# The API

Version ${version} of the contract.

| Operation | Address |
| --- | --- |
${rows.join("\n")}
| [The stream](/docs/reference/stream) | the events of a streamed answer |

${description}`,
  };
  return [
    overview,
    ...endpoints.map((endpoint) => operationPage(reference, endpoint)),
    streamPage(contract, targets),
    modelsPage(contract, targets),
    ...schemaPages(reference, clauses),
  ];
}
