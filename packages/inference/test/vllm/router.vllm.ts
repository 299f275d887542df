import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe } from "vitest";
import { startRemoteEngine } from "../../src/index.ts";
import { testEngineContract } from "../engine-contract.ts";
import { neutral } from "../requests.ts";
import { until } from "../until.ts";
import { forward, miniFolder, neverEnding, startVllm, testTimings } from "./start-vllm.ts";

/** The program of vllm-router (0.1.17, from PyPI). */
const program = process.env["PARLEY_TEST_ROUTER"];
if (program === undefined) console.warn("vllm-router was not tried: PARLEY_TEST_ROUTER does not name its program.");

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a port has an address.
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

describe.runIf(program !== undefined)("behind a router", () => {
  testEngineContract({
    title: "vLLM behind vllm-router",
    start: async () => {
      const started = startVllm();
      await started.vllm.engine.whenReady();
      const { url, server } = await forward(started.vllm.socketPath);
      const [port, metrics] = [await freePort(), await freePort()];
      const workers = ["--worker-urls", url, "--policy", "round_robin"];
      const listen = ["--host", "127.0.0.1", "--port", String(port), "--prometheus-port", String(metrics)];
      const router = spawn(program ?? "", [...listen, ...workers], { stdio: "ignore" });
      const baseUrl = `http://127.0.0.1:${port}`;
      const answers = (): Promise<boolean> =>
        fetch(`${baseUrl}/v1/models`).then(
          ({ ok }) => ok,
          () => false,
        );
      await until("the router answers", answers, 60_000);
      const engine = startRemoteEngine({
        name: started.options.name,
        servedName: started.options.name,
        baseUrls: [baseUrl],
        tokenizerFolder: miniFolder,
        headers: {},
        bearer: undefined,
        caFile: undefined,
        proxyUrl: undefined,
        slots: 8,
        sampling: neutral,
        timings: testTimings,
        report: () => undefined,
      });
      const dispose = async (): Promise<void> => {
        await engine.close(0);
        router.kill();
        server.close();
        await started[Symbol.asyncDispose]();
      };
      return Object.assign(engine, { [Symbol.asyncDispose]: dispose });
    },
    talkative: ({ sampling, ...members }) => ({ ...members, sampling: { ...sampling, logit_bias: neverEnding } }),
  });
});
