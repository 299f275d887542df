import { mkdtempSync, rmSync } from "node:fs";
import { createServer, connect } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { once } from "node:events";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { patientTimings } from "../../src/index.ts";
import type { SupervisorReport, Timings } from "../../src/index.ts";
import { readModelFolder } from "../../src/model-folder/model-folder.ts";
import { startRemoteEngine } from "../../src/remote/remote-engine.ts";
import type { RemoteOptions } from "../../src/remote/remote-engine.ts";
import { startVllmProcess } from "../../src/vllm/index.ts";
import type { VllmSidecar, VllmProcessOptions } from "../../src/vllm/index.ts";
import { neutral } from "../requests.ts";
import { miniFolder } from "../start-scripted-vllm.ts";

export const modelName = "vendor/model-1-mini";

/**
 * The folder that keeps the environment of these tests between runs. It is outside of the checkout, because it takes five
 * gigabytes.
 */
export const installFolder = process.env["PARLEY_TEST_VLLM"] ?? join(homedir(), ".cache/parley/vllm");

/** Tests that start an engine many times run only by name (`report:vllm`). */
export const isWhole = process.env["PARLEY_TEST_VLLM_ALL"] !== undefined;

/**
 * Deadlines that leave vLLM time, because its processes share one core with other tests. None of the tests that use them makes
 * an engine freeze.
 */
export const testTimings: Timings = {
  ...patientTimings,
  unansweredMs: 60_000,
  stallMs: 120_000,
  restartFirstMs: 500,
};

const { endOfTurn, vocabulary } = readModelFolder(miniFolder);

const against = (ids: readonly number[]): Readonly<Record<string, number>> =>
  Object.fromEntries(ids.map((id) => [String(id), -100]));

/** With this bias a model cannot end its turn. */
export const neverEnding = against(endOfTurn);

/** With this bias a model cannot fill JSON with blanks, which vLLM's chat route would allow. */
export const noBlanks = against(
  Array.from({ length: vocabulary.size }, (_, id) => id).filter((id) =>
    /^\s+$/.test(Buffer.from(vocabulary.bytesOf(id)).toString()),
  ),
);

/** The model that `startVllm` serves, as one that others serve at these addresses; every member may be replaced. */
export function startElsewhere(
  baseUrls: readonly string[],
  changes: Partial<RemoteOptions> = {},
): ReturnType<typeof startRemoteEngine> {
  return startRemoteEngine({
    name: modelName,
    servedName: modelName,
    baseUrls,
    tokenizerFolder: miniFolder,
    headers: {},
    bearer: undefined,
    caFile: undefined,
    proxyUrl: undefined,
    slots: 8,
    cacheSecret: Buffer.alloc(32, 1),
    sampling: neutral,
    timings: testTimings,
    report: () => undefined,
    ...changes,
  });
}

export interface StartedVllm extends AsyncDisposable {
  readonly vllm: VllmSidecar;
  readonly reports: readonly SupervisorReport[];
  readonly options: VllmProcessOptions;
}

/** The mini model on a processor; every member may be replaced. */
export function startVllm(changes: Partial<VllmProcessOptions> = {}): StartedVllm {
  const reports: SupervisorReport[] = [];
  const folder = mkdtempSync(join(tmpdir(), "parley-"));
  const options: VllmProcessOptions = {
    name: modelName,
    weights: miniFolder,
    vllm: undefined,
    installFolder,
    contextLength: undefined,
    slots: 8,
    kvMemoryMb: undefined,
    cpuKvMemoryMb: 256,
    // Two may run at the same time.
    gpuMemoryShare: process.env["PARLEY_TEST_GPU"] === undefined ? undefined : 0.25,
    tensorParallel: undefined,
    gpus: undefined,
    cores: "0",
    extraArguments: [],
    runFolder: folder,
    stateFolder: folder,
    cacheSecret: Buffer.alloc(32, 1),
    sampling: neutral,
    timings: testTimings,
    report: (event) => void reports.push(event),
    ...changes,
  };
  const vllm = startVllmProcess(options);
  return {
    vllm,
    reports,
    options,
    [Symbol.asyncDispose]: async () => {
      await vllm.engine.close(0);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Forwards a TCP port to a unix socket, so that a local engine looks like a remote one. */
export async function forward(socketPath: string): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((near) => {
    const far = connect(socketPath);
    near.pipe(far).pipe(near);
    near.on("error", () => far.destroy());
    far.on("error", () => near.destroy());
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a port has an address.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, server };
}
