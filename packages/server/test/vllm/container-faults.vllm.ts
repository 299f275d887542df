import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { container, containerProgram, faultTable, image, ownContainers } from "@parley/inference/testing/vllm";
import { engineOf, startService } from "./service.ts";
import type { Service } from "./service.ts";
import { survive, takeReference } from "./survive.ts";
import type { Fault, Reference } from "./survive.ts";

/** Faults of a real vLLM in a container, as the service's callers see them. */

let service: Service;
let reference: Reference;

const idOf = (): string => ownContainers()[0] ?? "";

interface Mount {
  readonly Destination: string;
  readonly Source: string;
}

/** Returns the path of the socket in the folder that the container sees as `/run/parley`. */
function socketPath(): string {
  const mounts = JSON.parse(container("inspect", "--format", "{{json .Mounts}}", idOf())) as Mount[]; // as documented
  return `${mounts.find(({ Destination }) => Destination === "/run/parley")?.Source}/api`;
}

/** Fills the container's memory with data that belongs to no process, so the kernel has to end a process of the engine. */
function exhaust(): void {
  container("update", "--memory", "3g", "--memory-swap", "3g", idOf());
  try {
    container("exec", idOf(), "sh", "-c", "head -c 1900m /dev/zero > /dev/shm/fill");
  } catch {
    // The kernel may end the shell of this command, or the shell may end with the container.
  }
}

const driver = "container";
const faults: readonly Fault[] = [
  { driver, name: "container killed", act: () => void container("kill", idOf()) },
  { driver, name: "container removed", act: () => void container("rm", "--force", idOf()) },
  { driver, name: "container out of memory", act: exhaust },
];

describe.runIf(containerProgram !== undefined)("a container that goes away is replaced", () => {
  beforeAll(async () => {
    service = await startService({
      mini: { engine: "vllm-container" },
      settings: { vllmImage: image },
      socketPath,
    });
    reference = await takeReference(service);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    faultTable.print();
  });

  test.each(faults)("$name", async (fault) => {
    await engineOf(service).whenReady();
    const restarts = engineOf(service).gauges().restarts;
    const seen = await survive(service, fault, reference);
    expect(seen.some(({ end }) => end !== "whole")).toBe(true);
    expect(ownContainers()).toHaveLength(1);
    expect(engineOf(service).gauges()).toMatchObject({ restarts: restarts + 1, running: 0 });
  });

  test("closing leaves no container", async () => {
    await service.server.running.close();
    expect(ownContainers()).toEqual([]);
  });
});
