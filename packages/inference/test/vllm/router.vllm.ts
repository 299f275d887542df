import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe } from "vitest";
import { testEngineContract } from "../engine-contract.ts";
import { until } from "../until.ts";
import { forward, modelName, neverEnding, startElsewhere, startVllm } from "./start-vllm.ts";

interface Router {
  readonly title: string;
  /** Its program, named by a variable of the environment: none of them is installed by us. */
  readonly program: string | undefined;
  /** Where it is to listen, and the worker that it stands before. */
  readonly args: (port: string, metricsPort: string, worker: string) => string;
}

const { PARLEY_TEST_ROUTER, PARLEY_TEST_PRODUCTION_STACK } = process.env;
const routers: readonly Router[] = [
  {
    title: "vllm-router",
    program: PARLEY_TEST_ROUTER,
    args: (port, metricsPort, worker) =>
      `--host 127.0.0.1 --port ${port} --prometheus-port ${metricsPort} --worker-urls ${worker} --policy round_robin`,
  },
  {
    title: "the router of production-stack",
    program: PARLEY_TEST_PRODUCTION_STACK,
    args: (port, _metricsPort, worker) =>
      `--host 127.0.0.1 --port ${port} --routing-logic roundrobin --service-discovery static --static-backends ${worker} --static-models ${modelName}`,
  },
];
for (const { title, program } of routers) {
  if (program === undefined) console.warn(`${title} was not tried: no variable names its program.`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a port has an address.
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

describe.each(routers.filter(({ program }) => program !== undefined))("behind $title", ({ title, program, args }) => {
  testEngineContract({
    title: `vLLM behind ${title}`,
    start: async () => {
      const started = startVllm();
      await started.vllm.engine.whenReady();
      const { url, server } = await forward(started.vllm.socketPath);
      const [port, metrics] = [await freePort(), await freePort()];
      const router = spawn(program ?? "", args(String(port), String(metrics), url).split(" "), { stdio: "ignore" });
      const baseUrl = `http://127.0.0.1:${port}`;
      const answers = (): Promise<boolean> =>
        fetch(`${baseUrl}/v1/models`).then(
          ({ ok }) => ok,
          () => false,
        );
      await until("the router answers", answers, 60_000);
      const engine = startElsewhere([baseUrl]);
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
