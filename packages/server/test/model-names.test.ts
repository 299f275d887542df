import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CliProcess, miniId, modelId, parley, say, toRefusal, withKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import type { ModelObject } from "../src/models/model-object.ts";
import { useFolder } from "./use-folder.ts";
import { useServer } from "./use-server.ts";

/** The names that callers and operators may use for a model: ids, aliases, and ids without their vendor prefix. */

const retrieve = async (server: TestServer, name: string): Promise<ModelObject> =>
  (await (await server.fetch(`/models/${encodeURIComponent(name)}`)).json()) as ModelObject; // judged

describe("a name without its vendor prefix", () => {
  const server = useServer();

  test("MODL-19 MODL-20 RESP-04 is answered like the id, which answer, stream, ledger and metrics name", async () => {
    const answer = await server().complete({ model: "model-1", ...say("Hello") });
    expect(answer.model).toBe(modelId);
    const stream = await (await server().chat({ model: "model-1-mini", stream: true, ...say("Hello") })).text();
    const named = stream.matchAll(/"model":"([^"]*)"/g);
    expect(new Set(Array.from(named, ([, name]) => name))).toEqual(new Set([miniId]));
    expect((await server().ledger()).map((row) => row.model)).toEqual([modelId, miniId]);
    const metrics = await server().metrics();
    expect(new Set(metrics.match(/(?<=model=")[^"]*/g))).toEqual(new Set([modelId, miniId]));
  });

  test("RESP-16 costs what the id costs", async () => {
    const costs = ["model-1", modelId].map(
      async (model) => (await server().complete({ model, ...say("Hello") })).usage.cost_usd,
    );
    const [short, whole] = await Promise.all(costs);
    expect(short).toBe(whole);
  });

  test("MODL-21 gives the model object of the listing, which has ids alone", async () => {
    const { data } = (await (await server().fetch("/models")).json()) as { data: ModelObject[] };
    expect(data.map(({ id, aliases }) => [id, aliases])).toEqual([
      [modelId, undefined],
      [miniId, undefined],
    ]);
    expect(await retrieve(server(), "model-1-mini")).toEqual(data[1]);
    expect(await (await fetch(`${server().origin}/ready?model=model-1`)).json()).toMatchObject({
      models: { [modelId]: "ready" },
    });
  });

  test("MODL-15 is not for a key that may not use the model", async () => {
    const key = withKey(await server().makeKey({ models: [miniId] }));
    expect((await server().chat({ model: "model-1-mini" }, key)).status).toBe(200);
    expect(await server().refuse({ model: "model-1" }, key)).toMatchObject({ status: 404, code: "model_not_found" });
  });
});

describe("MODL-22 a refusal names the nearest id", () => {
  const pricing = { prompt: "0", completion: "0" };
  const server = useServer({
    settings: {
      models: {
        "model-1": { aliases: ["gpt-4o"] },
        "model-1-mini": {},
        audit: { id: "acme.ai/audit/v2", pricing },
        coder: { id: "acme.ai/Coder-7B", pricing },
      },
    },
  });

  test.each([
    ["Vendor/Model-1", modelId],
    ["vendor/model1", modelId],
    ["vendor_model-1", modelId],
    ["vendor:model-1-mini", miniId],
    ["openai/model-1", modelId],
    ["openai/vendor/model-1-mini", miniId],
    ["models/vendor/model-1", modelId],
    ["model-1-min", miniId],
    ["mini", miniId],
    ["model-1-latest", modelId],
    [`${modelId}:latest`, modelId],
    [` ${modelId}`, modelId],
    ["gpt-4", modelId],
    ["coder-7b", "acme.ai/Coder-7B"],
    ["acme/audit/v2", "acme.ai/audit/v2"],
  ])("%s: %s", async (model, id) => {
    const { status, message } = await server().refuse({ model });
    expect([status, message]).toEqual([404, expect.stringContaining(`Did you mean ${JSON.stringify(id)}?`)]);
    expect((await toRefusal(await server().fetch(`/models/${encodeURIComponent(model)}`))).message).toBe(message);
  });

  test.each(["", "x", "💥", "\u0000", "/", "////", "x".repeat(100_000)])(
    "however odd the name is: %j",
    async (model) => {
      const { status, message } = await server().refuse({ model });
      expect([status, message]).toEqual([404, expect.stringMatching(/ Did you mean "[^"]+"\? GET \/v1\/models /)]);
    },
  );

  test("MODL-15 of the key's own models, in words that tell nothing of the others", async () => {
    const own = withKey(await server().makeKey({ models: [miniId] }));
    const none = withKey(await server().makeKey({ models: ["gone/model"] }));
    for (const model of [modelId, "model-1", "gpt-4o", "acme.ai/Coder-7B", "Coder-7B", "acme.ai/nothing"]) {
      const said = `The model ${JSON.stringify(model)} does not exist or is not for this key.`;
      const rest = "GET /v1/models lists those that are.";
      expect((await server().refuse({ model }, own)).message).toBe(`${said} Did you mean "${miniId}"? ${rest}`);
      expect((await server().refuse({ model }, none)).message).toBe(`${said} ${rest}`);
    }
  });
});

describe("two models of one name", () => {
  const pricing = { prompt: "0", completion: "0" };
  const models = {
    one: { id: "acme/chat", pricing },
    other: { id: "rival/chat", pricing },
    third: { id: "acme/code", pricing },
    fourth: { id: "rival/text", aliases: ["code"], pricing },
  };
  const server = useServer({ settings: { models } });

  test("are not meant by it: the refusal names both", async () => {
    const { message } = await server().refuse({ model: "chat" });
    expect(message).toContain('Did you mean "acme/chat" or "rival/chat"?');
  });

  test("MODL-15 a key for one of them may leave the vendor out, and learns nothing of the other", async () => {
    for (const id of ["acme/chat", "rival/chat"]) {
      const key = withKey(await server().makeKey({ models: [id] }));
      expect((await server().complete({ model: "chat", ...say("Hello") }, key)).model).toBe(id);
      expect((await server().refuse({ model: "chats" }, key)).message).toContain(`Did you mean "${id}"?`);
    }
  });

  test("MODL-16 an alias goes before a name without its vendor", async () => {
    expect((await server().complete({ model: "code", ...say("Hello") })).model).toBe("code");
    expect((await retrieve(server(), "code")).id).toBe("rival/text");
    expect((await server().ledger()).at(-1)?.model).toBe("rival/text");
  });
});

describe("with PARLEY_SHORT_NAMES=off", () => {
  const server = useServer({ settings: { shortNames: "off" } });

  test("MODL-21 a name needs its vendor in every operation, and the refusal names the id", async () => {
    const { message } = await server().refuse({ model: "model-1" });
    expect(message).toContain(`Did you mean "${modelId}"?`);
    expect((await server().fetch("/models/model-1")).status).toBe(404);
    expect((await fetch(`${server().origin}/ready?model=model-1`)).status).toBe(404);
  });
});

describe("an operator", () => {
  const folder = useFolder();

  test("may leave out the vendor for a key, which keeps the id, and for its usage", async () => {
    const options = folder.quick();
    const made = await parley(["keys", "create", "--name", "short", "--models", "model-1"], options);
    expect(made.code).toBe(0);
    expect((await parley(["keys", "list"], options)).stdout).toContain(modelId);
    const wrong = await parley(["keys", "create", "--name", "wrong", "--models", "modell-1"], options);
    expect(wrong.stderr).toContain(`There is no model modell-1. Did you mean "${modelId}"?`);
  });

  test("learns at the start and from `config check` which names are ambiguous", async () => {
    const pricing = { prompt: "0", completion: "0" };
    const models = {
      one: { id: "acme/chat", pricing },
      other: { id: "rival/chat", pricing },
      third: { id: "acme/code", pricing },
      fourth: { id: "rival/text", aliases: ["code"], pricing },
    };
    const config = join(folder.path(), "shared.yaml");
    writeFileSync(config, JSON.stringify({ models }));
    const options = folder.quick();
    const sentences = [
      "chat could mean acme/chat and rival/chat. A key that may use more than one of them has to send the whole id.",
      "code means rival/text. Callers ask for acme/code by its whole id.",
    ];
    const check = await parley(["config", "check", "--config", config], options);
    await using server = new CliProcess(["start", "--config", config], options);
    await server.says(/Base URL/);
    for (const sentence of sentences) for (const said of [check, server]) expect(said.stderr).toContain(sentence);
    const off = await parley(["config", "check", "--config", config, "--short-names", "off"], options);
    expect([off.code, off.stderr]).toEqual([0, ""]);
  });
});
