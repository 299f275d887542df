import { expect, test } from "vitest";
import { collect, runProfileOf } from "../mutants/judge.ts";
import type { Subject } from "../mutants/judge.ts";
import { levels } from "../src/contract/contract.ts";
import { assess } from "../src/run/assess.ts";
import { json, soundReply, startHttp } from "./preflight/stub-service.ts";
import type { Reply } from "./preflight/stub-service.ts";

/** Phrases that say nothing to a reader who does not know the suite. */
const empty = /^(?:nothing|none|null|no value|\W*)$|that is right|keeps the clause| at null\b|undefined|\[object/;
/** A phrase begins with a word of English: a bare value does not say what it is. */
const bare = /^["'[{]|^-?\d[\d.]*$/;

const services: Readonly<Record<string, Reply>> = {
  "answers like vLLM": soundReply(["m"]),
  "answers every chat with a stream of one event": (request, response, body) => {
    if (request.method === "GET") return json(response, 200, { object: "list", data: [{ id: "m", object: "model" }] });
    if (!body.includes('"stream":true')) return soundReply(["m"])(request, response, body);
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end('data: {"id":"1","choices":[{"index":3,"delta":{}}]}\n\n');
  },
  "refuses with another envelope": (request, response, body) =>
    body.includes("Name three colours.") && !body.includes("stream")
      ? soundReply(["m"])(request, response, body)
      : json(response, 400, { error: { message: "No.", code: 400 } }, { "X-Should-Retry": "true" }),
};

test.each(Object.entries(services))(
  "a service that %s gets texts that say what was expected and found",
  async (_title, reply) => {
    await using stub = await startHttp(reply);
    const server: Subject = {
      baseUrl: `http://127.0.0.1:${stub.port}/v1`,
      secrets: new Map([["key", "right-key-4711"]]),
      profile: { model: "m" },
    };
    const judging = { server, levels: levels.filter((level) => level !== "limits" && level !== "ops") };
    const evidence = await collect(judging);
    const { verdicts } = assess(evidence, runProfileOf(judging));
    const violations = verdicts.flatMap(({ clause, violation }) =>
      violation ? [{ id: clause.id, ...violation }] : [],
    );
    expect(violations.length).toBeGreaterThan(15);
    const odd = violations.flatMap(({ id, expected, actual }) =>
      [expected, actual].filter((text) => empty.test(text) || bare.test(text)).map((text) => `${id}: ${text}`),
    );
    expect(odd).toEqual([]);
  },
);
