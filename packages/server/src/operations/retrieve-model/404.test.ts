import { describe, expect, test } from "vitest";
import { miniId, modelId, toRefusal, withKey } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();

describe("MODL-11 an id that is not there", () => {
  test.each([
    "vendor/model-2",
    "other/model-1",
    "a/b/c",
    "/a",
    "%2f",
    "vendor%252Fmodel-1",
    "__proto__",
    "constructor",
    "toString",
    "vendor;a=b/model-1",
    "a%00b",
    "%F0%9F%9C%82",
    "x".repeat(7000),
  ])("%s", async (id) => {
    expect(await toRefusal(await server().fetch(`/models/${id}`))).toMatchObject({
      status: 404,
      code: "model_not_found",
      param: "model",
    });
  });
});

test("MODL-15 a model that is not for this key is answered in the words for one that is not there", async () => {
  const key = withKey(await server().makeKey({ models: [miniId] }));
  const forbidden = await toRefusal(await server().fetch(`/models/${modelId}`, key));
  const unknown = await toRefusal(await server().fetch("/models/vendor/model-2", key));
  expect(forbidden.status).toBe(404);
  expect(forbidden.message.replace(modelId, "")).toBe(unknown.message.replace("vendor/model-2", ""));
});

describe("HTTP-05 a path that serves nothing", () => {
  test.each(["/models/", "/models//", "/models/vendor/model-1/", "/models/a//"])("%s", async (path) => {
    expect(await toRefusal(await server().fetch(path))).toMatchObject({
      status: 404,
      code: "unknown_url",
      param: null,
    });
  });
});
