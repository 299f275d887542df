import { expect, test } from "vitest";
import { openSite } from "../src/site/open-site.ts";
import { useServer } from "./use-server.ts";

const contractBrand = { vendor: "vendor", vendorLabel: "Vendor" };

const server = useServer({ settings: { vendor: "acme", vendorLabel: "Acme Labs" } });

test("every page and document names the models of this server, and no others", { timeout: 120_000 }, async () => {
  const { entries } = await openSite(contractBrand, "", AbortSignal.timeout(60_000));
  const paths = [...entries].flatMap(([path, { isCompressed }]) => (isCompressed ? [path] : []));
  expect(paths.length).toBeGreaterThan(800);
  for (const path of paths) {
    const text = await (await fetch(server().origin + path)).text();
    // A failure shows only the surroundings, because a page may have a megabyte.
    const left = /.{0,40}(vendor(\\?\/|%2F)model-1|Vendor: Model 1).{0,40}/.exec(text)?.[0];
    expect({ path, left }).toEqual({ path, left: undefined });
    if (path === "/docs" || /openapi|\.http$/.test(path))
      expect({ path, isRenamed: text.includes("acme/model-1") }).toEqual({ path, isRenamed: true });
  }
});

test("the documents are still what they were, but for the names", async () => {
  const answer = await fetch(`${server().origin}/openapi.json`);
  expect(answer.headers.get("etag")).not.toBeNull();
  const document = (await answer.json()) as { components: { schemas: { Model: { example?: { owned_by: string } } } } };
  expect(JSON.stringify(document)).toContain("Acme Labs: Model 1");
  expect(JSON.stringify(document)).not.toMatch(/"owned_by": ?"vendor"/);
});
