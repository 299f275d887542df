import { expect, test } from "vitest";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { files } from "./tree.ts";

interface DescribedOperation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

const operations = Object.values(contract.paths)
  .flatMap((item): object[] => Object.values(item))
  .filter((one): one is DescribedOperation => "operationId" in one);

const declared = operations.flatMap(({ operationId, responses }) =>
  Object.keys(responses).map((status) => [operationId, status] as const),
);

const folderOf = (operationId: string): string =>
  `packages/server/src/operations/${operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

test.each(declared)("%s has a test file for %s", (operationId, status) => {
  expect(files).toContain(`${folderOf(operationId)}/${status}.test.ts`);
});

test("no operation folder has a test file for a status that the contract does not declare", () => {
  const written = files.flatMap(
    (path) => /operations\/([a-z-]+)\/(\d{3})(?:-[a-z-]+)?\.test\.ts$/.exec(path)?.slice(1, 3).join(" ") ?? [],
  );
  const allowed = new Set(
    declared.map(([operationId, status]) => `${folderOf(operationId).split("/").at(-1)} ${status}`),
  );
  expect(written.filter((one) => !allowed.has(one))).toEqual([]);
});
