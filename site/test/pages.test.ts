import { describe, expect, test } from "vitest";
import { tools } from "@parley/partners";
import { guideNames } from "../src/pages/guides.ts";
import { pagePaths, site, sources, textAt } from "./built-site.ts";

/** The pages as files, without a browser. */

const idsOf = (path: string): Set<string> =>
  new Set([...textAt(path).matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id));

const pathsBelow = (folder: string): string[] =>
  pagePaths.filter((path) => path.startsWith(folder)).map((path) => path.slice(folder.length));

describe("every source has its page, and every page its source", () => {
  test("clauses", () => {
    expect(pathsBelow("/docs/clauses/")).toEqual(sources.clauses.map(({ id }) => id));
  });

  test("error codes", () => {
    const codes = Object.keys(sources.contract["x-error-catalog"]);
    expect(pathsBelow("/docs/errors/").toSorted()).toEqual(codes.toSorted());
  });

  test("schemas", () => {
    expect(pathsBelow("/docs/reference/schemas/")).toEqual(Object.keys(sources.contract.components["schemas"] ?? {}));
  });

  test("operations, schemas and errors of the admin API", () => {
    const { paths, components, "x-error-catalog": catalog } = sources.admin;
    const operations = Object.values(paths).flatMap(
      (path) => Object.values(path).map((one) => one["operationId"] as string), // each has one, by a rule of the linter
    );
    const schemas = Object.keys(components["schemas"] ?? {}).map((name) => `schemas/${name}`);
    expect(pathsBelow("/docs/admin/").toSorted()).toEqual([...operations, ...schemas, "errors"].toSorted());
    expect([...idsOf("/docs/admin/errors")]).toEqual(expect.arrayContaining(Object.keys(catalog)));
    expect(textAt("/docs/admin/createKey")).toContain('href="/docs/admin/errors#above_ceiling"');
  });

  test("guides of docs/guides, and the README of the client", () => {
    expect(guideNames.toSorted()).toEqual([...sources.guides.keys(), "client"].toSorted());
  });
});

test("every link leads to a page or file of the site, and every fragment to an element", () => {
  const broken = pagePaths.flatMap((path) =>
    [...textAt(path).matchAll(/ href="([^"]*)"/g)].flatMap(([, href = ""]) => {
      if (/^(https?:|mailto:)/.test(href)) return [];
      const [target = "", fragment] = href.replaceAll("&amp;", "&").split("#");
      const page = target === "" ? path : target;
      const isThere = site.has(page) && (fragment === undefined || idsOf(page).has(fragment));
      return isThere ? [] : [`${path} → ${href}`];
    }),
  );
  expect(broken).toEqual([]);
});

test("every link of the Markdown pages leads to a page or file of the site", () => {
  const broken = pagePaths.flatMap((path) => {
    const prose = textAt(`${path}.md`)
      .replaceAll(/^(`{3,})[^]*?^\1$/gm, "")
      .replaceAll(/`[^`\n]*`/g, "");
    return [...prose.matchAll(/\]\((\/[^)#\s]*)/g)].flatMap(([, href = ""]) =>
      site.has(href) ? [] : [`${path}.md → ${href}`],
    );
  });
  expect(broken).toEqual([]);
});

test("pages contain neither scripts nor styles of their own, so the policy needs no `unsafe-*` and no hashes", () => {
  const strays = pagePaths.flatMap((path) => {
    const text = textAt(path);
    return /<script(?![^>]* src=)|<style| style="| on[a-z]+="/.test(text) ? [path] : [];
  });
  expect(strays).toEqual([]);
});

test("no page loads anything from another host", () => {
  const strays = pagePaths.filter((path) => /(src|content|<link[^>]+href)="https?:/.test(textAt(path)));
  expect(strays).toEqual([]);
});

test("every page has one heading of the first level, a title of its own and a description", () => {
  const titles = new Map<string, string>();
  for (const path of pagePaths) {
    const text = textAt(path);
    const title = /<title>([^<]+)<\/title>/.exec(text)?.[1] ?? "";
    expect([path, text.match(/<h1[ >]/g)?.length]).toEqual([path, 1]);
    expect([path, titles.get(title)]).toEqual([path, undefined]);
    expect([path, /<meta name="description" content="[^"]{5,}">/.test(text)]).toEqual([path, true]);
    titles.set(title, path);
  }
});

test("ids of a page are unique", () => {
  const doubled = pagePaths.flatMap((path) => {
    const ids = [...textAt(path).matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id);
    const again = ids.filter((id, at) => ids.indexOf(id) !== at);
    return again.length === 0 ? [] : [`${path}: ${[...new Set(again)].join(", ")}`];
  });
  expect(doubled).toEqual([]);
});

test("llms.txt lists the Markdown of every page but the single clauses", () => {
  const listed = new Set([...textAt("/llms.txt").matchAll(/\((\/docs[^)]*)\)/g)].map(([, path = ""]) => path));
  const missing = pagePaths.filter(
    (path) => !listed.has(`${path}.md`) && !/^\/404$|^\/docs(\/clauses\/|\/guides\/programs\/|$)/.test(path),
  );
  expect(missing).toEqual([]);
  expect([...listed].filter((path) => !site.has(path))).toEqual([]);
});

test("the matrix of generators is data and a page, and both have the results of the runs", () => {
  const matrix = JSON.parse(textAt("/docs/generators.json")) as { name: string; page?: string; results: object }[];
  expect(matrix.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
  for (const { name, page, results } of matrix) {
    const [, row = ""] =
      new RegExp(`<tr><td><a href="#${name}">(.*?)</tr>`).exec(textAt("/docs/guides/generators")) ?? [];
    const cells = Object.values(results).map((cell) => ({ passed: "✓", failed: "✗" })[String(cell)] ?? "–");
    expect([name, row.match(/[✓✗–](?=<)/g)]).toEqual([name, cells]);
    expect([name, page === undefined || site.has(page)]).toEqual([name, true]);
  }
});

test("an id of a clause in prose is a link to the clause", () => {
  expect(textAt("/docs/reference/createChatCompletion")).toContain('<a class="clause" href="/docs/clauses/AUTH-12"');
});
