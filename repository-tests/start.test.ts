import { expect, test } from "vitest";
import { readWith, valueImports } from "./imports.ts";
import { files, read } from "./tree.ts";

/** Files and packages that a start loads before `/health` answers, besides the driver of each model. Each one costs time. */

const start = readWith(...["program", "start", "run-server"].map((name) => `packages/server/src/cli/${name}.ts`));

test("a start reads the server and the interface of the engines", () => {
  expect([...start]).toEqual(
    expect.arrayContaining(["packages/server/src/app.ts", "packages/inference/src/engine.ts", "zod"]),
  );
});

test.each([
  ["express", "packages/server/src/express/express-app.ts"],
  ["express-openapi-validator", "packages/server/src/express/express-gate.ts"],
  ["undici", "packages/inference/src/vllm/index.ts"],
  ["@eslint-community/regexpp", "packages/json-schema-grammar/src/compile-schema.ts"],
  ["@huggingface/tokenizers", "packages/inference/src/remote/remote-engine.ts"],
  ["node-llama-cpp", "packages/inference/src/embedded/embedded-engine.ts"],
])("a start does not read %s, nor %s", (library, file) => {
  expect(files).toContain(file);
  expect([library, file].filter((name) => start.has(name))).toEqual([]);
});

test("a remote engine reads undici with its first request", () => {
  const remote = readWith("packages/inference/src/remote/remote-engine.ts");
  expect([...remote]).toContain("packages/inference/src/wire/connection.ts");
  expect([...remote]).not.toContain("undici");
});

test("wherever a server is started, `deploy/parley` or `launch.mjs` gives Node the same flags", () => {
  for (const path of ["deploy/parley", "launch.mjs"])
    expect(read(path)).toContain("packages/server/src/node-flags.json");
  expect(read("deploy/parley.service")).toContain("ExecStart=/opt/parley/deploy/parley start\n");
  expect(read("deploy/server.Dockerfile")).toContain('ENTRYPOINT ["parley"]\nCMD ["start"]');
  const starts = ["deploy/parley.service", "deploy/server.Dockerfile", "docs/guides/services.md", "ci/services.ts"];
  for (const path of starts) expect(read(path)).not.toContain("main.mjs");
});

test("the docs are built from packages that a start installs", () => {
  const dependenciesOf = (folder: string): readonly string[] =>
    Object.keys((JSON.parse(read(`${folder}package.json`)) as { dependencies?: object }).dependencies ?? {}); // of our own packages
  const program = [...readWith("site/src/main.ts", "site/src/build/build-site.ts", "site/src/sources.ts")];
  const missing = program
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => {
      const folder = /^(site|packages\/[^/]+)\//.exec(path)?.[0] ?? "";
      const names = valueImports(path).flatMap(
        (target) => /^(?!node:)(@[^/]+\/)?[a-z][^/.]*(?=\/|$)/.exec(target)?.[0] ?? [],
      );
      const foreign = names.filter((name) => !files.some((file) => file.startsWith(`${name}/`)));
      return foreign.filter((name) => !dependenciesOf(folder).includes(name)).map((name) => `${path} → ${name}`);
    });
  expect(program.length).toBeGreaterThan(30);
  expect(missing).toEqual([]);
});
