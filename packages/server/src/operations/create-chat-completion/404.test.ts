import { describe, expect, test } from "vitest";
import { miniId, modelId, withKey } from "@parley/server/testing";
import { assertRefused } from "../../../test/refused.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();
const notFound = { status: 404, code: "model_not_found", param: "model" };

describe("MODL-12 ERR-07 OPS-06 a model that is not there, streamed or not", () => {
  test.each([
    ["unknown", "vendor/model-2"],
    ["of another case", "Vendor/Model-1"],
    ["of another vendor", "other/model-1"],
    ["without its vendor, of another case", "Model-1"],
    ["a slash and a name", "/model-1"],
    ["a vendor alone", "vendor"],
    ["with more behind it", `${modelId}/`],
    ["with a blank", ` ${modelId}`],
    ["empty", ""],
    ["a name of every object", "__proto__"],
    ["a method of every object", "toString"],
    ["a constructor", "constructor"],
    ["with NUL", `${modelId}\u0000`],
  ])("%s", async (_title, model) => {
    await assertRefused(server(), { model }, notFound);
  });

  test("ERR-08 a long one does not come back", async () => {
    const { message } = await server().refuse({ model: "x".repeat(1_000_000) });
    expect(message.length).toBeLessThan(300);
  });
});

test("MODL-15 a model that is not for this key is answered in the words for one that is not there", async () => {
  const key = withKey(await server().makeKey({ models: [miniId] }));
  const forbidden = await server().refuse({ model: modelId }, key);
  const unknown = await server().refuse({ model: "vendor/model-2" }, key);
  expect(forbidden).toMatchObject(notFound);
  expect(forbidden.message.replace(modelId, "")).toBe(unknown.message.replace("vendor/model-2", ""));
  expect((await server().chat({ model: miniId }, key)).status).toBe(200);
});
