import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { miniFolder, otherFolder } from "@parley/inference/testing";
import { faultTable, pidOf, startVllm } from "@parley/inference/testing/vllm";
import type { StartedVllm } from "@parley/inference/testing/vllm";
import { modelId } from "@parley/server/testing";
import { engineOf, startService } from "./service.ts";
import type { Service } from "./service.ts";
import { survive, takeReference } from "./survive.ts";
import type { Fault, Reference } from "./survive.ts";

/** Faults and restarts of a real vLLM that others run. The service knows only its address. */

/** A TCP port that forwards to a unix socket. The socket can be replaced at any time. */
interface Gate {
  readonly url: string;
  /** Breaks all open connections and forwards new ones to this socket. Undefined: closes the port. */
  leadTo(socketPath: string | undefined): Promise<void>;
  close(): void;
}

async function openGate(): Promise<Gate> {
  let target: string | undefined;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target ?? "");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => open.delete(one) && other.destroy());
    }
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    // A server that listens on a port has an address.
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  const leadTo = async (socketPath: string | undefined): Promise<void> => {
    target = socketPath;
    if (socketPath === undefined) server.close();
    else if (!server.listening) await listen(port);
    for (const socket of open) socket.destroy();
  };
  return { url: `http://127.0.0.1:${port}`, leadTo, close: () => server.close() };
}

let upstream: StartedVllm;
/** A vLLM with another model, which gets the address. */
let stranger: StartedVllm;
let gate: Gate;
let service: Service;
let reference: Reference;

beforeAll(async () => {
  upstream = startVllm({ slots: 32 });
  stranger = startVllm({ name: modelId, weights: otherFolder, cores: "1" });
  gate = await openGate();
  await Promise.all([upstream.vllm.engine.whenReady(), stranger.vllm.engine.whenReady()]);
  await gate.leadTo(upstream.vllm.socketPath);
  service = await startService({
    mini: { engine: "remote", remote: { urls: [gate.url], tokenizer: miniFolder } },
    socketPath: () => upstream.vllm.socketPath,
  });
  reference = await takeReference(service);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  gate.close();
  await Promise.all([upstream, stranger].map((one) => one[Symbol.asyncDispose]()));
  faultTable.print();
});

const signal = (name: NodeJS.Signals): void => void process.kill(pidOf(upstream.vllm.pid ?? 0, "core"), name);
const back = (): Promise<void> => gate.leadTo(upstream.vllm.socketPath);

const driver = "remote";
const faults: readonly Fault[] = [
  { driver, name: "SIGKILL of its engine core; others start it again", act: () => signal("SIGKILL") },
  {
    driver,
    name: "SIGSTOP of its engine core; others wake it",
    act: () => signal("SIGSTOP"),
    heal: () => signal("SIGCONT"),
    noticedWithinMs: 18_000,
  },
  { driver, name: "its address refuses connections, and is back", act: () => gate.leadTo(undefined), heal: back },
  {
    driver,
    name: "its address is taken by a vLLM with another model, and is back",
    act: () => gate.leadTo(stranger.vllm.socketPath),
    heal: back,
  },
];

describe("a vLLM elsewhere that fails", () => {
  test.each(faults)("$name", async (fault) => {
    await engineOf(service).whenReady();
    const seen = await survive(service, fault, reference);
    expect(seen.some(({ end }) => end !== "whole")).toBe(true);
  });
});
