import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { until } from "../until.ts";
import { modelName } from "./start-vllm.ts";

interface Router {
  readonly title: string;
  /** The program, given by an environment variable, because we do not install routers. */
  readonly program: string;
  /** Returns the arguments for the port of the router and the worker behind it. */
  readonly args: (port: number, metricsPort: number, worker: string) => string;
}

const { PARLEY_TEST_ROUTER, PARLEY_TEST_PRODUCTION_STACK } = process.env;
const known = [
  {
    title: "vllm-router",
    program: PARLEY_TEST_ROUTER,
    args: (port: number, metricsPort: number, worker: string) =>
      `--host 127.0.0.1 --port ${port} --prometheus-port ${metricsPort} --worker-urls ${worker} --policy round_robin`,
  },
  {
    title: "the router of production-stack",
    program: PARLEY_TEST_PRODUCTION_STACK,
    args: (port: number, _metricsPort: number, worker: string) =>
      `--host 127.0.0.1 --port ${port} --routing-logic roundrobin --service-discovery static --static-backends ${worker} --static-models ${modelName}`,
  },
];
for (const { title, program } of known) {
  if (program === undefined) console.warn(`${title} was not tried: no variable names its program.`);
}

/** The routers whose programs are available. */
export const routers: readonly Router[] = known.flatMap(({ program, ...others }) =>
  program === undefined ? [] : [{ ...others, program }],
);

export interface StartedRouter extends AsyncDisposable {
  readonly url: string;
}

/** @param wrapper a command, with its arguments, to be put before the router's */
export async function startRouter(
  { program, args }: Router,
  worker: string,
  wrapper: readonly string[] = [],
): Promise<StartedRouter> {
  const port = await freePort();
  const [command, ...before] = [...wrapper, program];
  const given = args(port, await freePort(), worker).split(" ");
  const child = spawn(command, [...before, ...given], { stdio: "ignore" });
  const ended = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  const answers = (): Promise<boolean> =>
    fetch(`${url}/v1/models`).then(
      ({ ok }) => ok,
      () => false,
    ); // not yet
  await until("the router answers", answers, 60_000);
  const stop = async (): Promise<void> => {
    child.kill();
    await ended;
  };
  return { url, [Symbol.asyncDispose]: stop };
}

/** Returns a free port of the loopback interface. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a port has an address.
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
