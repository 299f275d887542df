import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { valueAt, objectsIn, operationsOf, resolveAnswer } from "@parley/contract/document";
import type { CatalogEntry, Document, MediaType } from "@parley/contract/document";
import { decimalProduct, decimalSum } from "@parley/contract/decimal";
import { bundle, contractFolder, readText } from "./checks/redocly.ts";
import { runStream } from "@parley/contract/stream-machine";
import type { Streams } from "@parley/contract/stream-words";
import { compile } from "@parley/contract/validator";

let document: Document;

beforeAll(async () => {
  document = await bundle();
});

/** Returns every body of the contract, with its path in the document and its media type. */
function bodies(): { place: string; type: string; media: MediaType }[] {
  return operationsOf(document).flatMap(({ operationId, requestBody, responses }) => {
    const answers = Object.entries(responses).map(([status, answer]) => ({
      place: `${operationId} ${status}`,
      content: resolveAnswer(document, answer).content ?? {},
    }));
    return [{ place: operationId, content: requestBody?.content ?? {} }, ...answers].flatMap(({ place, content }) =>
      Object.entries(content).map(([type, media]) => ({ place, type, media })),
    );
  });
}

test("every JSON example is valid against its schema, and has no member that it does not know", () => {
  const judge = compile(document, true);
  const faults = bodies().flatMap(({ place, media }) =>
    Object.entries(media.examples).flatMap(([name, { value }]) =>
      judge(media.schema)(value).map((fault) => `${place} ${name}: ${fault}`),
    ),
  );
  expect(faults).toEqual([]);
});

test("a wrong example would be found", () => {
  const judge = compile(document)({ $ref: "#/components/schemas/ChatCompletionRequest" });
  expect(judge({ model: "vendor/model-1", messages: [{ role: "user", content: "a" }], n: 9 })).not.toEqual([]);
  expect(judge({ model: "vendor/model-1", messages: [{ role: "robot", content: "a" }] })).not.toEqual([]);
});

describe("every stream", () => {
  const transcripts = () => {
    const found = bodies().find(({ media }) => media["x-transcripts"])?.media["x-transcripts"] ?? {};
    return Object.entries(found).map(([name, { value, "x-inputs": inputs }]) => ({ name, text: value, inputs }));
  };

  test("has data that is valid against the schema of an event, and of its JSON", () => {
    const event = compile(document)({ $ref: "#/components/schemas/ServerSentEvent" });
    const json = compile(document, true)({ $ref: "#/components/schemas/StreamEvent" });
    const faults = transcripts().flatMap(({ name, text }) => {
      const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, line]) => String(line));
      const pieces = data.filter((line) => line !== "[DONE]").map((line) => JSON.parse(line));
      const found = [...data.flatMap((line) => event({ data: line })), ...pieces.flatMap((piece) => json(piece))];
      return found.map((fault) => `${name}: ${fault}`);
    });
    expect(faults).toEqual([]);
  });

  test("passes the state machine", () => {
    // The shape of streams.yaml is what stream-words.ts declares.
    const streams = document["x-streams"] as unknown as Streams;
    const outcomes = transcripts().map(({ name, text, inputs }) => {
      const { violation, end } = runStream(streams, inputs, text);
      return { name, violation, end };
    });
    expect(outcomes.filter(({ violation }) => violation !== undefined)).toEqual([]);
    expect(outcomes.filter(({ end }) => end !== "done").map(({ name }) => name)).toEqual(["error"]);
  });
});

test("every count adds up, and every price is exact", async () => {
  const prices = new Map<unknown, unknown>();
  for (const record of objectsIn(JSON.parse(await readText("examples/models.json"))))
    if (record["pricing"]) prices.set(record["id"], record["pricing"]);
  const answers: Record<string, unknown>[] = [];
  for (const file of await exampleFiles())
    for (const json of (await readText(file)).matchAll(file.endsWith(".sse") ? /^data: (\{.*\})$/gm : /^([^]*)$/g))
      for (const answer of objectsIn(JSON.parse(String(json[1])))) if (answer["usage"]) answers.push(answer);
  expect(answers.length).toBeGreaterThan(10);
  for (const answer of answers) {
    const count = (name: string) => Number(valueAt(answer, `/usage/${name}`));
    const price = (name: string) => String(valueAt(prices.get(answer["model"]), `/${name}`));
    const cost = decimalSum(
      // No model of the examples has a price of its own for cached tokens.
      decimalProduct(price("prompt"), count("prompt_tokens")),
      decimalProduct(price("completion"), count("completion_tokens")),
      price("request"),
    );
    expect(count("total_tokens")).toBe(count("prompt_tokens") + count("completion_tokens"));
    expect(count("prompt_tokens_details/cached_tokens")).toBeLessThanOrEqual(count("prompt_tokens"));
    expect(count("completion_tokens_details/reasoning_tokens")).toBeLessThanOrEqual(count("completion_tokens"));
    // A receipt has the cost beside its usage.
    expect(valueAt(answer, "/usage/cost_usd") ?? answer["cost_usd"]).toBe(cost);
  }
});

test("the bytes of every token are its text, and join to the content", () => {
  const examples = bodies().flatMap(({ media }) => Object.values(media.examples));
  const choices = examples
    .flatMap(({ value }) => [...objectsIn(value)])
    .filter((one) => valueAt(one, "/logprobs/content"));
  expect(choices).not.toEqual([]);
  for (const choice of choices) {
    const entries = valueAt(choice, "/logprobs/content");
    const bytes = Array.isArray(entries) ? entries.flatMap((entry) => valueAt(entry, "/bytes")) : [];
    expect(Buffer.from(bytes.map(Number)).toString()).toBe(valueAt(choice, "/message/content"));
  }
});

/**
 * A code need not belong to a status of an operation: it may end a stream whose status was sent, or come before the operation
 * is known.
 */
function hasPlace(place: string, code: string, entry: CatalogEntry | undefined): boolean {
  const status = place.split(" ").at(-1) ?? "";
  const isEdge = document["x-edge-statuses"][status]?.code === code;
  return isEdge || status === String(entry?.status) || (status === "200" && entry?.in_stream === true);
}

test("every code has its own example, with the status, type and param of the catalogue", () => {
  const shown = bodies().flatMap(({ place, media }) =>
    Object.values(media.examples).flatMap(({ value }) => {
      const code = valueAt(value, "/error/code");
      return typeof code === "string" ? [{ code, place, value }] : [];
    }),
  );
  const codes = new Set(shown.map(({ code }) => code));
  expect([...codes].toSorted()).toEqual(Object.keys(document["x-error-catalog"]).toSorted());
  const isWrong = ({ code, place, value }: (typeof shown)[number]) => {
    const entry = document["x-error-catalog"][code];
    const isNamed = valueAt(value, "/error/param") !== null;
    const fits = entry?.param === "optional" || isNamed === (entry?.param === "required");
    return !fits || valueAt(value, "/error/type") !== entry?.type || !hasPlace(place, code, entry);
  };
  expect(shown.filter(isWrong)).toEqual([]);
});

test("every file in examples/ is used", async () => {
  const sources = await Promise.all(
    [
      ...["chat-completions", "models", "model", "key", "receipt"].map((path) => `paths/${path}.yaml`),
      "responses.yaml",
    ].map(readText),
  );
  const unused = (await exampleFiles()).filter((file) => !sources.some((source) => source.includes(file)));
  expect(unused).toEqual([]);
});

async function exampleFiles(): Promise<string[]> {
  const entries = await readdir(join(contractFolder, "examples"), { recursive: true });
  return entries.filter((name) => /\.(json|sse)$/.test(name)).map((name) => `examples/${name}`);
}
