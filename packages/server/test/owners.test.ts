import { execFile, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CliProcess, parley } from "@parley/server/testing";

const service = fileURLToPath(new URL("../../../deploy/parley", import.meta.url));
/** A user without a name. The folders of the tests belong to it. */
const owner = 54_321;
const asUser = (uid: number): string[] => ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "--"];
const isRoot = process.getuid?.() === 0;
/** Root can become another user, who may read this tree. */
const hasUsers = isRoot && spawnSync("setpriv", [...asUser(owner).slice(1), service, "--version"]).status === 0;
const canMount = isRoot && spawnSync("unshare", ["--mount", "true"]).status === 0;

let parent = "";
let dataDir = "";
beforeAll(() => {
  parent = mkdtempSync(join(tmpdir(), "parley-owners-"));
  chmodSync(parent, 0o755);
  dataDir = join(parent, "data");
  mkdirSync(dataDir, { mode: 0o700 });
  if (hasUsers) chownSync(dataDir, owner, owner);
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const inFolder = (
  folder: string,
): { readonly env: { readonly PARLEY_DATA_DIR: string; readonly [name: string]: string } } => ({
  env: { PARLEY_DATA_DIR: folder, PARLEY_ENGINE: "scripted", PORT: "0", PARLEY_METRICS_PORT: "off" },
});
const ownersIn = (folder: string): number[] => readdirSync(folder).map((name) => statSync(join(folder, name)).uid);

describe.skipIf(!hasUsers)(
  "a data folder of another user (it would run as root, in a tree that others may read)",
  () => {
    test.each([["keys", "create", "--name", "a"], ["restore", "a.db"], ["vllm", "install"], ["doctor"], ["start"]])(
      "is left alone by root: %s %s",
      async (...args) => {
        const { code, stdout, stderr } = await parley(args, inFolder(dataDir));
        expect(code).toBe(1);
        expect(stdout + stderr).toContain(
          `The data folder ${dataDir} belongs to user ${owner}, whose server could not open what root writes there. Run the command as that user: sudo -u '#${owner}' …`,
        );
        expect(readdirSync(dataDir)).toEqual([]);
      },
    );

    test("gets only files of that user from `deploy/parley`, also over a link to it, with which its server starts", async () => {
      const settings = join(parent, "parley.env");
      const link = join(parent, "link");
      symlinkSync(dataDir, link);
      writeFileSync(settings, `# settings\nPARLEY_DATA_DIR="${link}"\nPARLEY_ENGINE=scripted\nHOST=nowhere.invalid`);
      const run = async (...args: string[]): Promise<string> => {
        const env = { PATH: process.env["PATH"] ?? "", HOST: "127.0.0.1", PARLEY_ENV_FILE: settings };
        return (await promisify(execFile)(service, args, { cwd: parent, env })).stdout;
      };
      expect(await run("keys", "create", "--name", "a")).toContain(`in ${link}/key-`);
      const backup = join(dataDir, "monday.db");
      expect(await run("backup", backup)).toContain(`run: ${service} restore ${backup}`);
      expect(await run("restore", backup)).toContain("1 keys and 0 requests");
      expect(new Set(ownersIn(dataDir))).toEqual(new Set([owner]));
      await using server = new CliProcess(["start"], { ...inFolder(dataDir), wrapper: asUser(owner) });
      await server.says(/Base URL/);
    });

    test("is named with its owner, the user of the process, and the remedy", async () => {
      const { code, stderr } = await parley(["keys", "list"], { ...inFolder(dataDir), wrapper: asUser(owner + 1) });
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /belongs to user 54321:54321 \(mode \d+\), and this process is user 54322:54322\. Run as that user, or run this as root: chown -R 54322:54322 \S+\/data\. /,
      );
    });

    test("is not to be taken from its owner when it does not exist yet", async () => {
      const fresh = join(parent, "fresh");
      const { stderr } = await parley(["keys", "create", "--name", "a"], {
        ...inFolder(fresh),
        wrapper: asUser(owner),
      });
      expect(stderr).toContain(`run this as root: install -d -m 700 -o ${owner} -g ${owner} ${fresh}.`);
      expect(existsSync(fresh)).toBe(false);
    });
  },
);

describe.skipIf(!hasUsers)("a backup (it would run as root, in a tree that others may read)", () => {
  const asOwner = (args: readonly string[]) => parley(args, { ...inFolder(dataDir), wrapper: asUser(owner) });

  test("is restored from a folder that the user cannot write, and nothing is left beside it", async () => {
    const own = join(dataDir, "a.db");
    expect((await asOwner(["keys", "create", "--name", "a"])).code).toBe(0);
    expect((await asOwner(["backup", own])).code).toBe(0);
    const backups = join(parent, "backups");
    mkdirSync(backups, { mode: 0o755 });
    copyFileSync(own, join(backups, "a.db"));
    chmodSync(join(backups, "a.db"), 0o644);
    expect(await asOwner(["restore", join(backups, "a.db")])).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(backups)).toEqual(["a.db"]);
  });

  test("that the user cannot read, or cannot write, is named with the user", async () => {
    const secret = join(parent, "secret.db");
    writeFileSync(secret, "", { mode: 0o600 });
    expect((await asOwner(["restore", secret])).stderr).toBe(
      `parley: ${secret} cannot be read by user ${owner}:${owner}. Give that user the right to read it.\n`,
    );
    expect((await asOwner(["restore", parent])).stderr).toContain(`There is no file ${parent}. Name one`);
    expect((await asOwner(["backup", join(parent, "b.db")])).stderr).toBe(
      `parley: The folder ${parent} cannot be written by user ${owner}:${owner}. Name a file in another folder.\n`,
    );
  });
});

describe.skipIf(!canMount)("a full disk (it would run where file systems can be mounted)", () => {
  test.each([["keys list"], ["restore BACKUP"], ["start"], ["doctor"]])("is named by parley %s", async (command) => {
    const disk = mkdtempSync(join(parent, "disk-"));
    const file = `${disk}.db`;
    expect((await parley(["keys", "create", "--name", "a"], inFolder(disk))).code).toBe(0);
    expect((await parley(["backup", file], inFolder(disk))).code).toBe(0);
    const fill = `mv "$0" "$0.copy" && mkdir "$0" && mount -t tmpfs -o size=400k tmpfs "$0" && cp -a "$0.copy/." "$0" && { cat /dev/zero > "$0/fill" 2> /dev/null || true; } && exec "$@"`;
    const { code, stdout, stderr } = await parley(command.replace("BACKUP", file).split(" "), {
      ...inFolder(disk),
      wrapper: ["unshare", "--mount", "sh", "-c", fill, disk],
    });
    expect(stdout + stderr).toContain(`The data folder ${disk} cannot be used: The disk is full. Make room.`);
    expect(code).toBe(1);
  });
});

test.skipIf(!canMount)(
  "a read-only file system is named (it would run where file systems can be mounted)",
  async () => {
    const folder = join(parent, "read-only");
    mkdirSync(folder);
    const mount = `mount --bind ${folder} ${folder} && mount -o remount,ro,bind ${folder} && exec "$@"`;
    const { code, stderr } = await parley(["keys", "create", "--name", "a"], {
      ...inFolder(folder),
      wrapper: ["unshare", "--mount", "sh", "-c", mount, "sh"],
    });
    expect(code).toBe(1);
    expect(stderr).toContain(`${folder} is on a read-only file system. Mount a volume there.`);
  },
);

test("a missing folder for temporary files ends a start with its name and the remedy", async () => {
  const { env } = inFolder(join(parent, "no-temporary"));
  const { code, stderr } = await parley(["start"], { env: { ...env, TMPDIR: "/nonexistent" } });
  expect(code).toBe(1);
  expect(stderr).toContain("The folder for temporary files /nonexistent cannot be used");
  expect(stderr).toContain("Mount a tmpfs there, or name another folder with TMPDIR.");
});

test("a file in place of the folder is named", async () => {
  const file = join(parent, "file");
  writeFileSync(file, "");
  const { code, stderr } = await parley(["keys", "create", "--name", "a"], inFolder(file));
  expect(code).toBe(1);
  expect(stderr).toContain(`The data folder ${file} cannot be used: ${file} is not a folder.`);
});
