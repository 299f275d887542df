import { beforeAll, describe, expect, test } from "vitest";
import { valueAt, objectsIn, operationsOf, resolveAnswer } from "@parley/contract/document";
import type { Answer, CatalogEntry, Document, JsonObject } from "@parley/contract/document";
import { bundle } from "./checks/redocly.ts";

let document: Document;

beforeAll(async () => {
  document = await bundle();
});

test("the canonical version is 3.1.1, and five operations are described", () => {
  expect(document.openapi).toBe("3.1.1");
  const ids = operationsOf(document).map(({ operationId }) => operationId);
  expect(ids).toEqual(["createChatCompletion", "listModels", "retrieveModel", "retrieveKey", "retrieveReceipt"]);
});

describe("the catalogue of errors", () => {
  const catalogue = () => Object.entries(document["x-error-catalog"]);
  /** Returns the codes whose entries `isWrong` accepts. */
  const codesOf = (isWrong: (entry: CatalogEntry) => boolean) =>
    catalogue()
      .filter(([, entry]) => isWrong(entry))
      .map(([code]) => code);

  test("has exactly the codes of ErrorCode, in its order", () => {
    expect(Object.keys(document["x-error-catalog"])).toEqual(valueAt(document, "/components/schemas/ErrorCode/enum"));
  });

  test("uses every type, and no other", () => {
    const types = new Set(catalogue().map(([, { type }]) => type));
    const declared = valueAt(document, "/components/schemas/ErrorType/enum");
    expect(types).toEqual(new Set(Array.isArray(declared) ? declared : []));
  });

  test("has a status that an operation declares, and every answer of that status has the headers of the code", () => {
    const operations = operationsOf(document);
    const answers = (status: number) => operations.flatMap(({ responses }) => responses[String(status)] ?? []);
    const lacks = (answer: Answer, headers: string[]) => {
      const present = Object.keys(resolveAnswer(document, answer).headers ?? {});
      return headers.some((header) => !present.includes(header));
    };
    expect(codesOf(({ status }) => answers(status).length === 0)).toEqual([]);
    expect(codesOf(({ status, headers }) => answers(status).some((answer) => lacks(answer, headers)))).toEqual([]);
  });

  test("asks for a wait only with the header that names it, and for none where a retry never helps", () => {
    const names = (entry: CatalogEntry) => entry.headers.includes("Retry-After");
    expect(codesOf((entry) => names(entry) !== (entry.retry.wait === "retry-after"))).toEqual([]);
    expect(codesOf(({ retry }) => (retry.helps === "after-wait") !== (retry.wait === "retry-after"))).toEqual([]);
    expect(codesOf(({ retry }) => (retry.helps === "never") !== (retry.wait === "none"))).toEqual([]);
  });

  test("lets errors of the server end a stream, and of a caller's only that its key was disabled meanwhile", () => {
    expect(codesOf(({ type, in_stream }) => in_stream !== (type === "server_error"))).toEqual(["invalid_api_key"]);
  });

  test("is where every code of the edge and of a schema comes from", () => {
    const ofSchemas = [...objectsIn(document.components.schemas)].flatMap((schema) => schema["x-error-code"] ?? []);
    const dependencies = valueAt(document, "/components/schemas/ChatCompletionRequest/x-dependencies");
    const ofDependencies = [...objectsIn(dependencies)].map(({ code }) => code);
    const ofEdge = Object.values(document["x-edge-statuses"]).map(({ code }) => code);
    const used = new Set([...ofSchemas, ...ofDependencies, ...ofEdge]);
    expect([...used].filter((code) => !Object.hasOwn(document["x-error-catalog"], String(code)))).toEqual([]);
    expect(ofSchemas).toContain("unsupported_parameter");
  });
});

describe("a request", () => {
  const members = () => Object.keys(Object(valueAt(document, "/components/schemas/ChatCompletionRequest/properties")));

  test("has its members in the order in which faults are reported", () => {
    expect(members().join(" ")).toBe(
      "model messages max_completion_tokens max_tokens temperature top_p top_k min_p frequency_penalty presence_penalty " +
        "repetition_penalty seed stop logit_bias logprobs top_logprobs n stream stream_options tools tool_choice " +
        "parallel_tool_calls response_format reasoning_effort user metadata store service_tier safety_identifier " +
        "prompt_cache_key verbosity functions function_call audio modalities prediction web_search_options",
    );
  });

  test("has dependencies between members that exist, in the order of the members", () => {
    const dependencies = valueAt(document, "/components/schemas/ChatCompletionRequest/x-dependencies");
    const places = (Array.isArray(dependencies) ? dependencies : []).map(({ member }: JsonObject) => {
      const [top = ""] = (member as string).split(/[.[]/);
      return members().indexOf(top);
    });
    expect(places).not.toEqual([]);
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });

  test("says beside every discriminator that it is an object, which validators with discriminators need", () => {
    const unions = [...objectsIn(document.components.schemas)].filter((schema) => schema["discriminator"]);
    expect(unions.length).toBeGreaterThan(2);
    for (const union of unions) expect(union["type"]).toBe("object");
  });

  test("has no member that is a bare reference, which express-openapi-validator would misread", () => {
    const properties = Object.entries(
      Object(valueAt(document, "/components/schemas/ChatCompletionRequest/properties")),
    );
    expect(properties.filter(([, schema]) => valueAt(schema, "/$ref") !== undefined)).toEqual([]);
  });

  test("is open: unknown members are named, not refused", () => {
    const closed = [...objectsIn(document.components.schemas)].filter((one) => one["additionalProperties"] === false);
    expect(closed).toEqual([]);
  });
});

describe("a limit", () => {
  const limit = (name: string) => document["x-limits"][name]?.value;

  test("has a value, a unit and a description", () => {
    const limits = Object.values(document["x-limits"]);
    expect(limits.filter(({ value, unit, description }) => !(value > 0 && unit && description))).toEqual([]);
  });

  test("that is a bound of a schema, too, is the same number there", () => {
    const schema = (pointer: string) => valueAt(document, `/components/schemas/${pointer}`);
    expect(schema("TextPart/properties/text/maxLength")).toBe(limit("maxBodyBytes"));
    expect(valueAt(document, "/components/headers/XClientRequestId/schema/maxLength")).toBe(
      limit("clientRequestIdCharacters"),
    );
  });

  test("that the introduction states is the real one", () => {
    const description = document.info.description.replace(/\s+/g, " ");
    expect(description).toContain(`at most ${limit("maxBodyBytes") === 4 * 2 ** 20 ? "4 MiB" : "?"}`);
    expect(description).toContain(`at most ${limit("maxNestingLevels")} levels`);
    expect(description).toContain(`after at most ${limit("keepAliveSeconds")} seconds of silence`);
    expect(description).toContain(`${limit("slowReaderSeconds")} seconds have passed`);
  });
});
