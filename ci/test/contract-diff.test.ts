import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Grade } from "../contract-diff/change.ts";
import { adminFiles, findChanges } from "../contract-diff/find-changes.ts";
import { judgeDocument } from "../contract-diff/judge-document.ts";
import { judgeWords } from "../contract-diff/judge-words.ts";
import { placeOf } from "../contract-diff/place.ts";
import { bumpFor, isEnough } from "../contract-diff/version.ts";
import { root } from "../root.ts";

// A bundle is edited as plain JSON, because no type could follow the edits.
// oxlint-disable-next-line typescript/no-explicit-any
type Bundle = any;
type Edit = (document: Bundle) => void;

const bundleFile = join(root, "packages/contract/src/generated/contract.json");
const bundle: Bundle = JSON.parse(readFileSync(bundleFile, "utf8"));
const chat = "POST /v1/chat/completions";
const request = ({ components }: Bundle): Bundle => components.schemas.ChatCompletionRequest;
const usage = ({ components }: Bundle): Bundle => components.schemas.Usage;
const operation = ({ paths }: Bundle): Bundle => paths["/v1/chat/completions"].post;

/** Each edit changes a different place, so that all of them are judged in one run. */
const edits: readonly (readonly [title: string, grade: Grade, place: string, edit: Edit])[] = [
  ["a member is required", "breaking", `${chat}, request`, (d) => request(d).required.push("stop")],
  ["a member is taken away", "breaking", `${chat}, request: min_p`, (d) => delete request(d).properties.min_p],
  [
    "a member is added",
    "additive",
    `${chat}, request: zeal`,
    (d) => (request(d).properties.zeal = { type: ["string", "null"], maxLength: 5, description: "Zeal." }),
  ],
  [
    "a bound is tightened",
    "breaking",
    `${chat}, request: temperature`,
    (d) => (request(d).properties.temperature.maximum = 1),
  ],
  ["a bound is loosened", "additive", `${chat}, request: n`, (d) => (request(d).properties.n.maximum = 9)],
  ["a type is narrowed", "breaking", `${chat}, request: store`, (d) => (request(d).properties.store.type = "boolean")],
  ["a type is widened", "additive", `${chat}, request: user`, (d) => request(d).properties.user.type.push("integer")],
  [
    "a value of an enum is added",
    "additive",
    `${chat}, request: tool_choice`,
    (d) => d.components.schemas.ToolChoiceMode.enum.push("some"),
  ],
  [
    "a branch of a union is gone",
    "breaking",
    `${chat}, request: messages[]`,
    (d) => d.components.schemas.ChatMessage.oneOf.pop(),
  ],
  [
    "a bound that a word for programs has",
    "breaking",
    "components schemas ChatCompletionRequest properties seed x-exact-bounds minimum",
    (d) => (request(d).properties.seed["x-exact-bounds"].minimum = "0"),
  ],
  [
    "a list of a word for programs grows",
    "additive",
    'components schemas ContentPart x-unsupported-values "smell"',
    (d) => d.components.schemas.ContentPart["x-unsupported-values"].push("smell"),
  ],
  [
    "a member has an effect now",
    "additive",
    "components schemas ChatCompletionRequest properties store x-ignored",
    (d) => delete request(d).properties.store["x-ignored"],
  ],
  [
    "a member has no effect any more",
    "breaking",
    "components schemas ChatCompletionRequest properties metadata x-ignored",
    (d) => (request(d).properties.metadata["x-ignored"] = true),
  ],
  [
    "a parameter is required",
    "breaking",
    `${chat}, parameters: 0`,
    (d) => (d.components.parameters.XStrictParams.required = true),
  ],
  [
    "a value of an enum is added",
    "breaking",
    `${chat}, answer 200: choices[].message.role`,
    (d) => d.components.schemas.AnswerMessage.properties.role.enum.push("critic"),
  ],
  [
    "a value of an enum that may grow is added",
    "additive",
    `${chat}, answer 200: error.code`,
    (d) => d.components.schemas.ErrorCode.enum.push("new_error"),
  ],
  [
    "a value of an enum is gone",
    "additive",
    `GET /v1/models, answer 200: object`,
    (d) => (d.components.schemas.ModelList.properties.object.enum = []),
  ],
  [
    "a member is no more required",
    "breaking",
    `${chat}, answer 200: usage`,
    (d) => (usage(d).required = usage(d).required.filter((name: string) => name !== "cost_usd")),
  ],
  [
    "a member is added",
    "additive",
    `${chat}, answer 200: usage.zeal`,
    (d) => (usage(d).properties.zeal = { type: "string", description: "Zeal." }),
  ],
  [
    "a member may be null",
    "breaking",
    `${chat}, answer 200: created`,
    (d) => (d.components.schemas.CreatedAt.type = ["integer", "null"]),
  ],
  [
    "a member is never null any more",
    "additive",
    `${chat}, answer 200: choices[].message.content`,
    (d) => (d.components.schemas.AnswerMessage.properties.content.type = "string"),
  ],
  [
    "a bound is loosened",
    "breaking",
    `${chat}, answer 200: choices[].logprobs.content[].logprob`,
    (d) => (d.components.schemas.LogProbability.maximum = 1),
  ],
  ["a status is gone", "breaking", `${chat}, answer 402`, (d) => delete operation(d).responses["402"]],
  [
    "a status is added",
    "additive",
    "GET /v1/models, answer 402",
    (d) => (d.paths["/v1/models"].get.responses["402"] = bundle.paths["/v1/chat/completions"].post.responses["402"]),
  ],
  [
    "a header is gone",
    "breaking",
    "GET /v1/models, answer 200: headers x-request-id",
    (d) => delete d.paths["/v1/models"].get.responses["200"].headers["x-request-id"],
  ],
  [
    "a list of values in a new schema may grow",
    "additive",
    "components schemas More x-may-grow",
    (d) => (d.components.schemas.More = { type: "string", enum: ["a"], "x-may-grow": true }),
  ],
  ["an operation is added", "additive", "/v1/more", (d) => (d.paths["/v1/more"] = bundle.paths["/v1/models"])],
  ["an operation is gone", "breaking", "/v1/models/{model}", (d) => delete d.paths["/v1/models/{model}"]],
  [
    "an operation has another id",
    "breaking",
    "GET /v1/models",
    (d) => (d.paths["/v1/models"].get.operationId = "list"),
  ],
  [
    "a description has other words",
    "editorial",
    `${chat}, request: top_k`,
    (d) => (request(d).properties.top_k.description = "Other."),
  ],
  [
    "an example is another",
    "editorial",
    `${chat}, answer 200: id`,
    (d) => (d.components.schemas.CompletionId.examples = ["chatcmpl-2"]),
  ],
  ["the introduction has other words", "editorial", "info", (d) => (d.info.description = "Other.")],
  [
    "an error has another status",
    "breaking",
    "x-error-catalog timeout status",
    (d) => (d["x-error-catalog"].timeout.status = 500),
  ],
  [
    "an error has another remedy",
    "editorial",
    "x-error-catalog timeout remedy",
    (d) => (d["x-error-catalog"].timeout.remedy = "Wait."),
  ],
  [
    "an error can end a stream, too",
    "additive",
    "x-error-catalog request_too_large in_stream",
    (d) => (d["x-error-catalog"].request_too_large.in_stream = true),
  ],
  [
    "an error ends no stream any more",
    "breaking",
    "x-error-catalog timeout in_stream",
    (d) => (d["x-error-catalog"].timeout.in_stream = false),
  ],
  ["an error is added", "additive", "x-error-catalog new_error", (d) => (d["x-error-catalog"].new_error = {})],
  ["an error is gone", "breaking", "x-error-catalog invalid_json", (d) => delete d["x-error-catalog"].invalid_json],
  ["a limit is tightened", "breaking", "x-limits maxBodyBytes value", (d) => (d["x-limits"].maxBodyBytes.value -= 1)],
  [
    "a limit is loosened",
    "additive",
    "x-limits maxNestingLevels value",
    (d) => (d["x-limits"].maxNestingLevels.value += 1),
  ],
  [
    "a promised time is longer",
    "breaking",
    "x-limits hangUpSeconds value",
    (d) => (d["x-limits"].hangUpSeconds.value += 1),
  ],
  [
    "a line of a stream is bounded further",
    "additive",
    "x-streams lines comment pattern",
    (d) => (d["x-streams"].lines.find(({ kind }: { kind: string }) => kind === "comment").pattern += " "),
  ],
  [
    "a line of a stream may be another",
    "breaking",
    "x-streams lines end pattern",
    (d) => (d["x-streams"].lines.find(({ kind }: { kind: string }) => kind === "end").pattern = "^.?$"),
  ],
  [
    "a stream may do more",
    "breaking",
    "x-streams machines call states late",
    (d) => (d["x-streams"].machines.call.states.late = "Late."),
  ],
];

const folder = mkdtempSync(join(tmpdir(), "parley-contract-"));
afterAll(() => rmSync(folder, { recursive: true }));

const seen = new Map<string, Grade>();
beforeAll(() => {
  const changed = structuredClone(bundle);
  for (const [, , , edit] of edits) edit(changed);
  const file = join(folder, "changed.json");
  writeFileSync(file, JSON.stringify(changed));
  for (const { grade, place } of [...judgeDocument(bundleFile, file), ...judgeWords(bundle, changed)])
    seen.set(place, grade);
}, 60_000);

test.each(edits)("%s: %s, at %s", (_title, grade, place) => {
  expect([place, seen.get(place)]).toEqual([place, grade]);
});

test("a contract compared with itself has no change", () => {
  expect([...judgeDocument(bundleFile, bundleFile), ...judgeWords(bundle, bundle)]).toEqual([]);
}, 60_000);

test("a breaking change of the admin API is found", () => {
  const changed: Bundle = JSON.parse(readFileSync(adminFiles.current, "utf8"));
  delete changed.components.schemas.KeyCreate.properties.weight;
  const file = join(folder, "changed-admin.json");
  writeFileSync(file, JSON.stringify(changed));
  expect(findChanges(adminFiles.current, file).changes).toEqual([
    expect.objectContaining({ grade: "breaking", place: "POST /admin/v1/keys, request: weight" }),
  ]);
}, 60_000);

test("the path of a change is described in words", () => {
  expect(placeOf("#/paths/~1v1~1models/get/responses/200/content/application~1json/schema/properties/data/items")).toBe(
    "GET /v1/models, answer 200: data[]",
  );
});

test.each<[readonly Grade[], string]>([
  [["editorial", "breaking", "additive"], "major"],
  [["editorial", "additive"], "minor"],
  [["editorial"], "patch"],
  [[], "none"],
])("%j needs a step of %s", (found, bump) => {
  expect(bumpFor(found)).toBe(bump);
});

test.each([
  ["1.0.0", "2.0.0", "major", true],
  ["1.9.9", "2.0.0", "minor", true],
  ["1.0.0", "1.1.0", "major", false],
  ["1.0.0", "1.1.0", "minor", true],
  ["1.0.0", "1.0.1", "minor", false],
  ["1.0.0", "1.0.0", "patch", false],
  ["2.0.0", "1.0.0", "major", false],
] as const)("from %s to %s is a %s step: %s", (before, now, bump, want) => {
  expect(isEnough(before, now, bump)).toBe(want);
});
