import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, testKey } from "@parley/server/testing";
import { compareBuilds } from "../ci/release/compare-builds.ts";
import { buildImage, docker, releasedImages } from "../ci/release/images.ts";

const run = promisify(execFile);
const hasDocker = spawnSync("docker", ["version"]).status === 0;

describe.skipIf(!hasDocker)("the images of a release (it would run with a Docker engine)", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "parley-images-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const closed = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"];
  const build = (tag: string): void =>
    releasedImages.filter((image) => image.tag === tag).forEach((image) => buildImage(image));

  test("the conformance suite judges a service by a frozen set of requirements, and keeps its report", async () => {
    build("parley/conformance");
    await using server = await startTestServer();
    const user = ["--user", String(process.getuid?.()), "--volume", `${folder}:/work`, "--env", `API_KEY=${testKey}`];
    const judged = ["run", "--base-url", `${server.origin}/v1`, "--requirements", "2026-12", "--only", "MODL"];
    const given = ["run", "--rm", "--network", "host", ...closed, ...user, "parley/conformance", ...judged];
    const { stdout } = await run("docker", [...given, "--report", "report"]);
    expect(stdout).toContain("PASS");
    expect(readdirSync(join(folder, "report"))).toContain("report.json");
  }, 600_000);

  test("the fuzzer fuzzes a service by its URL, with one command and without a right", async () => {
    build("parley/fuzzer");
    await using server = await startTestServer();
    const given = ["run", "--rm", "--network", "host", ...closed, "--env", `PARLEY_KEY=${testKey}`, "parley/fuzzer"];
    const few = ["--include-operation-id", "listModels", "--seed", "1", "--no-color"];
    const { stdout } = await run("docker", [...given, server.origin, ...few]);
    expect(stdout).toMatch(/ (\d+) generated, \1 passed/);
    const nothing = await run("docker", [...given, "http://127.0.0.1:9"]).catch((error: unknown) => error);
    expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining("schemathesis.toml cannot be read") });
    // A time in bytecode makes the files of two builds differ.
    const timed = `import pathlib; print(sum(not file.read_bytes()[4] & 1 for file in pathlib.Path("/opt").rglob("*.pyc")))`;
    expect(docker("run", "--rm", "--entrypoint", "python3", "parley/fuzzer", "-c", timed).trim()).toBe("0");
  }, 300_000);

  test("two builds are compared file by file", () => {
    const dockerfile = join(folder, "Dockerfile");
    const step = "date +%N > /when; echo same > /same; ln -s /when /link; touch /name-$(date +%N)";
    writeFileSync(dockerfile, ["ARG BASE", "FROM ${BASE}", `RUN ${step}`].join("\n"));
    const image = { tag: `parley/compared-${process.pid}`, dockerfile, pin: "node" } as const;
    const { files, bytes, compressedBytes, differing } = compareBuilds(image, () => performance.now());
    for (const name of ["first", "second"]) docker("rmi", `${image.tag}:${name}`);
    expect(differing).toEqual([expect.stringMatching(/^\/name-\d+$/), expect.stringMatching(/^\/name-\d+$/), "/when"]);
    expect(files).toBeGreaterThan(1000);
    expect(bytes).toBeGreaterThan(compressedBytes);
  }, 300_000);
});
