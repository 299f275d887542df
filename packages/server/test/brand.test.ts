import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { siteFolder } from "../src/site/brand-site.ts";
import { useServer } from "./use-server.ts";

const server = useServer({ settings: { vendor: "acme", vendorLabel: "Acme Labs" } });

const offered = readdirSync(`${siteFolder}/contract`).map((name) => `/${name}`);
const pages = readdirSync(`${siteFolder}/guides`, { recursive: true, encoding: "utf8" }).flatMap((name) =>
  name.endsWith(".html") ? [`/docs/guides/${name.replace(/\.html$/, "")}`] : [],
);

test.each(["/docs", ...offered, ...pages])("%s names the models of this server, and no others", async (path) => {
  const text = await (await fetch(server().origin + path)).text();
  expect(text).not.toMatch(/vendor(\\?\/|%2F)model-1|Vendor: Model 1/);
  if (path === "/docs" || /openapi|\.http$/.test(path)) expect(text).toMatch(/acme\/model-1/);
});

test("the documents are still what they were, but for the names", async () => {
  const answer = await fetch(`${server().origin}/openapi.json`);
  expect(answer.headers.get("etag")).not.toBeNull();
  const document = (await answer.json()) as { components: { schemas: { Model: { example?: { owned_by: string } } } } };
  expect(JSON.stringify(document)).toContain("Acme Labs: Model 1");
  expect(JSON.stringify(document)).not.toMatch(/"owned_by": ?"vendor"/);
});
