import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { requestBodies } from "../../../../../openapi/checks/request-bodies.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { createExpressGate } from "../../express/express-gate.ts";
import { createGate } from "./request-gate.ts";
import { requestSchema } from "./schema.ts";

type Judge = (json: string) => Promise<readonly [generated: boolean, library: boolean]>;

const servers: Server[] = [];
afterAll(() => servers.forEach((server) => server.close()));

let judgeByContract: Judge;
beforeAll(async () => {
  judgeByContract = await openGates();
});

/** Starts both validators. @returns a function that returns both verdicts about a body */
async function openGates(): Promise<Judge> {
  const generated = createGate();
  const library = createExpressGate(requestSchema);
  // The library needs requests of Express.
  const app = express();
  app.post("/v1/chat/completions", express.text({ type: () => true, limit: "5mb" }), async (req, res) => {
    res.json(await library(JSON.parse(req.body as string), req, res)); // express.text makes it a string
  });
  const server = createServer(app).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return async (body) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, { method: "POST", headers, body });
    return [generated.accepts(JSON.parse(body)), (await response.json()) as boolean]; // written above
  };
}

const bodyWith = (members: string): string =>
  `{"model":"vendor/model-1","messages":[{"role":"user","content":"Hello"}]${members === "" ? "" : `,${members}`}}`;

test("the generated validator and express-openapi-validator agree about every body", async () => {
  const verdicts = { accepted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(requestBodies(contract.components.schemas), async (json) => {
      const [generated, library] = await judgeByContract(json);
      verdicts[generated ? "accepted" : "refused"] += 1;
      expect(generated).toBe(library);
    }),
    { numRuns: 1500 },
  );
  // The test proves something only if there are enough bodies of each kind.
  expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(150);
});

test.each([
  ["null", "null"],
  ["a text", '"text"'],
  ["a number", "1"],
  ["an array", "[]"],
  ["nothing of what is required", "{}"],
  ["a good request", bodyWith("")],
  ["a name that every object has", bodyWith('"__proto__":{"model":1},"constructor":1,"toString":[]')],
  ["a required field under a name that every object has", '{"__proto__":{"model":"a","messages":[]}}'],
  ["a repeated field, of which the last counts", bodyWith('"n":"no","n":1')],
  ["half of a character", bodyWith('"user":"\\ud800"')],
  ["a name with half of a character", bodyWith('"metadata":{"\\ud800":"a"}')],
  ["the longest text in characters of two code units", bodyWith(`"user":"${"😀".repeat(512)}"`)],
  ["one character more", bodyWith(`"user":"${"😀".repeat(513)}"`)],
  ["a line break where a pattern ends", bodyWith('"logit_bias":{"1\\n":1}')],
  ["a number beyond every double", bodyWith('"temperature":1e400')],
  ["an integer written as a fraction", bodyWith('"n":2.0')],
  ["minus zero", bodyWith('"top_p":-0')],
  ["a seed at its bound", bodyWith('"seed":9223372036854775807')],
  ["a seed far beyond its bound", bodyWith('"seed":1e300')],
  ["a role that there is not", bodyWith('"messages":[{"role":"__proto__","content":"a"}]')],
  ["a role that is not text", bodyWith('"messages":[{"role":["user"],"content":"a"}]')],
  ["many messages", bodyWith(`"messages":[${Array(2048).fill('{"role":"user","content":"a"}').join()}]`)],
  ["one message more", bodyWith(`"messages":[${Array(2049).fill('{"role":"user","content":"a"}').join()}]`)],
  ["a text that is as long as a body may be", bodyWith(`"messages":[{"role":"user","content":"${"x".repeat(4e6)}"}]`)],
])("both say the same of a body with %s", async (_title, json) => {
  const [generated, library] = await judgeByContract(json);
  expect(generated).toBe(library);
});

test("both accept a maximum of any size, and only integers that a double can represent", async () => {
  const taken = ["1", "16385", "2147483648", "9223372036854775808", "1e30", "32000.0", "null"];
  const refused = ["0", "-1", '"5"', "1.5", "1e400", "9".repeat(400), "[1]"];
  for (const field of ["max_tokens", "max_completion_tokens"]) {
    const judge = (value: string) => judgeByContract(bodyWith(`"${field}":${value}`));
    expect(await Promise.all(taken.map(judge))).toEqual(taken.map(() => [true, true]));
    expect(await Promise.all(refused.map(judge))).toEqual(refused.map(() => [false, false]));
  }
});
