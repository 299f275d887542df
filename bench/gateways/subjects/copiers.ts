import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { startProgram } from "./start-program.ts";
import { nodeFlags } from "@parley/server/testing";
import { chatPath, modelFolder } from "./subject.ts";
import type { SubjectKind } from "./subject.ts";

/** No gateway: the caller asks the engine directly. */
export const direct: SubjectKind = {
  name: "direct",
  title: "direct",
  missing: () => undefined,
  start: async ({ port }) => ({
    port,
    path: chatPath,
    headers: {},
    pid: undefined,
    startMs: undefined,
    [Symbol.asyncDispose]: async () => undefined,
  }),
};

/** @param more returns further arguments for the folder of its files */
const nodeProgram = (
  file: string,
  flags: readonly string[] = [],
  more: (folder: string) => readonly string[] = () => [],
): Pick<SubjectKind, "missing" | "start"> => ({
  missing: () => undefined,
  start: async (engine, folder) => {
    const port = await freePort();
    const args = [...flags, join(import.meta.dirname, file), engine.url, String(port), ...more(folder)];
    return startProgram({ command: process.execPath, args, port, healthPath: "/health", folder });
  },
});

/** The least that a gateway in Node can cost. */
export const bareNode: SubjectKind = { name: "node", title: "bare Node", ...nodeProgram("../../vllm/copier.ts") };

/** The least that a gateway can cost that does Parley's work with Parley's libraries. */
export const libraries: SubjectKind = {
  name: "libraries",
  title: "Parley's libraries alone",
  ...nodeProgram("../libraries-server.ts", nodeFlags, (folder) => [modelFolder, folder]),
};

/** The cost of Express alone, in a server that answers without an engine. */
export const express: SubjectKind = {
  name: "express",
  title: "Express, without engine",
  isItsOwnEngine: true,
  ...nodeProgram("../express-server.ts"),
};
