import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
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
const release = (out: string, ...flags: readonly string[]): string =>
  execFileSync(process.execPath, ["ci/release/main.ts", "--dirty", "--no-images", "--out", out, ...flags], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });

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
  test("has the same files twice, each with its size and checksum", () => {
    const [first, second] = [join(folder, "first"), join(folder, "second")];
    const shown = release(first);
    release(second);
    const names = readdirSync(first).filter((name) => name !== "checksums.txt");
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
    const sums = (out: string): string => readFileSync(join(out, "checksums.txt"), "utf8");
    expect(sums(second)).toBe(sums(first));
    expect(sums(first).trim().split("\n")).toHaveLength(names.length);
  }, 300_000);

  test.skipIf(!hasHelm)(
    "has a chart that Helm reads, with the rules and the board in it (it would run with helm on the PATH or in PARLEY_TEST_HELM)",
    () => {
      const out = join(folder, "chart");
      release(out);
      const chart = readdirSync(out).find((name) => name.startsWith("parley-chart-")) ?? "";
      const values = "image.repository=parley,metrics.alerts=true,metrics.board=true";
      const args = ["template", "parley", join(out, chart), "--kube-version", "1.34.0", "--set", values];
      const rendered = execFileSync(helm, args, { encoding: "utf8" });
      expect(rendered).toContain("alert: ParleyModelNotReady");
      expect(rendered).toContain("parley.json:");
    },
    120_000,
  );

  test.skipIf(!hasCosign)(
    "is signed with the operator's key, and a changed file is found offline (it would run with cosign)",
    () => {
      const out = join(folder, "signed");
      execFileSync("cosign", ["generate-key-pair"], { cwd: folder, env: { ...process.env, COSIGN_PASSWORD: "" } });
      process.env["COSIGN_PASSWORD"] = "";
      release(out, "--sign", join(folder, "cosign.key"));
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
          { cwd: out },
        ).status === 0,
        spawnSync("sha256sum", ["--check", "--quiet", "checksums.txt"], { cwd: out }).status === 0,
      ];
      expect(verify()).toEqual([true, true]);
      appendFileSync(join(out, "parley-client.cdx.json"), " ");
      expect(verify()).toEqual([true, false]);
      appendFileSync(join(out, "checksums.txt"), "0  x\n");
      expect(verify()[0]).toBe(false);
    },
    120_000,
  );
});
