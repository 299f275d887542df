import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { startProgram } from "./start-program.ts";
import { nodeFlags } from "@parley/server/testing";
import { chatPath, modelFolder } from "./subject.ts";
import type { SubjectKind } from "./subject.ts";

/** Nothing between caller and engine. */
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

/** @param more further arguments, given the folder for its files */
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

/** The floor of a gateway in Node. */
export const bareNode: SubjectKind = { name: "node", title: "bare Node", ...nodeProgram("../../vllm/copier.ts") };

/** The floor of a gateway that does Parley's work with Parley's libraries. */
export const libraries: SubjectKind = {
  name: "libraries",
  title: "Parley's libraries alone",
  ...nodeProgram("../libraries-server.ts", nodeFlags, (folder) => [modelFolder, folder]),
};

/** What Express costs a server that knows its answers itself. */
export const express: SubjectKind = {
  name: "express",
  title: "Express, without engine",
  isItsOwnEngine: true,
  ...nodeProgram("../express-server.ts"),
};
