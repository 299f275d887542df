import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultsOfVersions } from "../release/find-faults.ts";
import { root } from "../root.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-release-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const helm = process.env["PARLEY_TEST_HELM"] ?? "helm";
const hasHelm = spawnSync(helm, ["version"]).status === 0;
const hasCosign = spawnSync("cosign", ["version"]).status === 0;
const words = (out: string): string[] => ["ci/release/main.ts", "--dirty", "--no-images", "--out", out];
const release = (out: string, ...flags: readonly string[]): string =>
  execFileSync(process.execPath, [...words(out), ...flags], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
/** Starts a release that ends before it makes a file. @returns its message */
const refused = (args: readonly string[], env: NodeJS.ProcessEnv = {}): string =>
  spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", env: { ...process.env, ...env } }).stderr;

describe("the versions of a release", () => {
  const same = [
    ["package.json", "1.2.0"],
    ["packages/client/package.json", "1.2.0"],
  ] as const;

  test("are one, and that of the changelog with its date", () => {
    expect(faultsOfVersions(same, "# Changelog\n\n## 1.2.0 (2026-12-01)\n")).toEqual([]);
  });

  test.each([
    [
      "a package has another one",
      [...same, ["packages/server/package.json", "1.1.0"]],
      "## 1.2.0 (2026-12-01)",
      "packages/server/package.json has version 1.1.0",
    ],
    ["the changelog has another one", same, "## 1.1.0 (2026-12-01)", "CHANGELOG.md begins with 1.1.0"],
    ["the changelog has none", same, "# Changelog", "CHANGELOG.md begins with no version"],
    ["the changelog has no date", same, "## 1.2.0 (unreleased)", 'CHANGELOG.md says "unreleased" for 1.2.0'],
  ] as const)("are refused: %s", (_fault, versions, changelog, sentence) => {
    const faults = faultsOfVersions(versions, changelog);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(sentence);
  });
});

describe("a release", () => {
  let out = "";
  let shown = "";
  beforeAll(() => {
    out = join(folder, "release");
    shown = release(out);
  }, 300_000);

  test("has the same files twice, each with its size and checksum, also after one that was cut", async () => {
    const sums = readFileSync(join(out, "checksums.txt"), "utf8");
    const cut = spawn(process.execPath, words(out), { cwd: root, stdio: "ignore", detached: true });
    await expect.poll(() => existsSync(`${out}.part`), { timeout: 120_000 }).toBe(true);
    process.kill(-Number(cut.pid), "SIGINT"); // as a terminal sends it to every process of a command
    await once(cut, "exit");
    expect(readFileSync(join(out, "checksums.txt"), "utf8")).toBe(sums);
    writeFileSync(join(`${out}.part`, "left"), "");
    release(out);
    expect(existsSync(`${out}.part`)).toBe(false);
    expect(readFileSync(join(out, "checksums.txt"), "utf8")).toBe(sums);
    const names = readdirSync(out).filter((name) => name !== "checksums.txt");
    expect(names.toSorted()).toEqual([
      "contract-changes.txt",
      expect.stringMatching(/^parley-chart-[\d.]+\.tgz$/),
      expect.stringMatching(/^parley-client-[\d.]+\.tgz$/),
      "parley-client.cdx.json",
      expect.stringMatching(/^parley-conformance-[\d.]+\.tgz$/),
      "parley-conformance.cdx.json",
      expect.stringMatching(/^parley-json-schema-grammar-[\d.]+\.tgz$/),
      "parley-json-schema-grammar.cdx.json",
      "parley-server.cdx.json",
    ]);
    for (const name of names)
      expect(shown).toMatch(new RegExp(`^ +[\\d.]+ [kM]B  ${name.replaceAll(".", "\\.")}$`, "m"));
    expect(sums.trim().split("\n")).toHaveLength(names.length);
  }, 300_000);

  test("names everything that it lacks, and does not replace a folder that is not a release", () => {
    const programs = join(folder, "programs");
    mkdirSync(programs);
    for (const name of ["git", "gzip"])
      symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), join(programs, name));
    const withImages = words(join(folder, "lacking")).filter((word) => word !== "--no-images");
    const said = refused([...withImages, "--sign", join(folder, "no.key")], { PATH: programs });
    for (const sentence of ["GNU tar", "No Docker engine answers", "needs cosign", "There is no key"])
      expect(said).toContain(sentence);
    expect(refused(words(programs))).toContain("is not a release");
    expect(readdirSync(programs)).toEqual(["git", "gzip"]);
  });

  test.skipIf(!hasHelm)(
    "has a chart that Helm reads, with the rules and the board in it (it would run with helm on the PATH or in PARLEY_TEST_HELM)",
    () => {
      const chart = readdirSync(out).find((name) => name.startsWith("parley-chart-")) ?? "";
      const chosen = "image.repository=parley,metrics.alerts=true,metrics.board=true";
      const args = ["template", "parley", join(out, chart), "--kube-version", "1.34.0", "--set", chosen];
      const rendered = execFileSync(helm, args, { encoding: "utf8" });
      expect(rendered).toContain("alert: ParleyModelNotReady");
      expect(rendered).toContain("parley.json:");
      const values = execFileSync(helm, ["show", "values", join(out, chart)], { encoding: "utf8" });
      expect(values.trim()).toBe(readFileSync(join(root, "deploy/chart/values.yaml"), "utf8").trim());
    },
    120_000,
  );

  test.skipIf(!hasCosign)(
    "is signed with the operator's key, and a changed file is found offline (it would run with cosign)",
    () => {
      const signed = join(folder, "signed");
      execFileSync("cosign", ["generate-key-pair"], { cwd: folder, env: { ...process.env, COSIGN_PASSWORD: "" } });
      const key = ["--sign", join(folder, "cosign.key")];
      expect(refused([...words(signed), ...key], { COSIGN_PASSWORD: "wrong" })).toContain("cosign cannot sign");
      expect(existsSync(signed)).toBe(false);
      process.env["COSIGN_PASSWORD"] = "";
      release(signed, ...key);
      const verify = (): boolean[] => [
        spawnSync(
          "cosign",
          [
            "verify-blob",
            "--key",
            join(folder, "cosign.pub"),
            "--insecure-ignore-tlog=true",
            "--signature",
            "checksums.txt.sig",
            "checksums.txt",
          ],
          { cwd: signed },
        ).status === 0,
        spawnSync("sha256sum", ["--check", "--quiet", "checksums.txt"], { cwd: signed }).status === 0,
      ];
      expect(verify()).toEqual([true, true]);
      appendFileSync(join(signed, "parley-client.cdx.json"), " ");
      expect(verify()).toEqual([true, false]);
      appendFileSync(join(signed, "checksums.txt"), "0  x\n");
      expect(verify()[0]).toBe(false);
    },
    300_000,
  );
});
