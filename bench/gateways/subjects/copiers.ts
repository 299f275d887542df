import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { startProgram } from "./start-program.ts";
import { chatPath } from "./subject.ts";
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

const nodeProgram = (file: string): Pick<SubjectKind, "missing" | "start"> => ({
  missing: () => undefined,
  start: async (engine, folder) => {
    const port = await freePort();
    const args = [join(import.meta.dirname, file), engine.url, String(port)];
    return startProgram({ command: process.execPath, args, port, healthPath: "/health", folder });
  },
});

/** The floor of a gateway in Node. */
export const bareNode: SubjectKind = { name: "node", title: "bare Node", ...nodeProgram("../../vllm/copier.ts") };

/** What Express costs a server that knows its answers itself. */
export const express: SubjectKind = {
  name: "express",
  title: "Express, without engine",
  isItsOwnEngine: true,
  ...nodeProgram("../express-server.ts"),
};
