import { describe, expect, test } from "vitest";
import type { ModelObject } from "../../models/model-object.ts";
import { miniId, modelId, withKey } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

// MODL-02 and MODL-03 are judged by the harness, member by member.

const server = useServer();
const list = async (headers: Readonly<Record<string, string>> = {}): Promise<ModelObject[]> => {
  const response = await server().fetch("/models", { headers });
  expect(response.status).toBe(200);
  const body = (await response.json()) as { object: string; data: ModelObject[] }; // judged
  expect(body.object).toBe("list");
  return body.data;
};

test("MODL-01 MODL-02 MODL-03 the list holds the source's two models, as the source has them", async () => {
  const constants = { context_length: 32_768, max_completion_tokens: 16_384, quantization: "bf16" };
  const free = { image: "0", request: "0" };
  expect(await list()).toMatchObject([
    {
      id: modelId,
      object: "model",
      name: "Vendor: Model 1",
      ...constants,
      pricing: { prompt: "0.0000003", completion: "0.0000006", ...free },
      input_modalities: ["text"],
      output_modalities: ["text"],
      is_ready: true,
    },
    {
      id: miniId,
      object: "model",
      name: "Vendor: Model 1 Mini",
      ...constants,
      pricing: { prompt: "0.0000002", completion: "0.0000004", ...free },
    },
  ]);
});

test("MODL-04 MODL-05 MODL-06 MODL-14 the records agree with themselves and each other", async () => {
  const records = await list();
  for (const record of records) {
    expect(record.id).toMatch(/^[^/]+\/.+$/);
    expect(record.owned_by).toBe(record.id.split("/")[0]);
    expect(record.max_output_length).toBe(record.max_completion_tokens);
    expect(Object.values(record.pricing).every((price) => /^\d+(\.\d+)?$/.test(price))).toBe(true);
    expect(record.supported_features.includes("reasoning")).toBe("default_reasoning_effort" in record);
  }
});

test("MODL-13 the defaults are those that the engine runs with", async () => {
  const [record] = await list();
  expect(record?.default_sampling_parameters).toEqual({
    temperature: 1,
    top_p: 1,
    top_k: 0,
    min_p: 0,
    frequency_penalty: 0,
    presence_penalty: 0,
    repetition_penalty: 1,
  });
});

test("MODL-15 a key sees the models that it may use", async () => {
  const ids = async (models: string[]) =>
    (await list(withKey(await server().makeKey({ models })).headers)).map(({ id }) => id);
  expect(await ids([miniId])).toEqual([miniId]);
  expect(await ids(["other/model"])).toEqual([]);
});

test.each(["*/*", "text/html", ""])("the answer is JSON, whatever Accept says: %s", async (accept) => {
  const response = await server().fetch("/models", { headers: { accept } });
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
});

test("a query string and a body change nothing", async () => {
  expect((await server().fetch("/models?limit=1&after=x")).status).toBe(200);
});

describe("the operator's words", () => {
  const own = useServer({
    settings: {
      vendor: "acme.ai",
      vendorLabel: "Acme AI",
      models: {
        "model-1": {
          aliases: ["gpt-4o", "other/one"],
          label: "One",
          description: "Ours.",
          hugging_face_id: "acme/one",
          deprecation_date: "2030-12-31",
          created: 1_793_491_200,
          context_length: 4096,
          max_completion_tokens: 4000,
          default_reasoning_effort: "low",
          quantization: "q4_k_m",
          pricing: { prompt: "12", request: "0.001" },
          sampling: { temperature: 0.5 },
        },
        "model-1-mini": { max_completion_tokens: 20_000 },
      },
    },
  });

  test("MODL-04 MODL-05 take the place of the source's", async () => {
    const response = await own().fetch("/models/acme.ai/model-1");
    expect(await response.json()).toMatchObject({
      id: "acme.ai/model-1",
      owned_by: "acme.ai",
      name: "Acme AI: One",
      description: "Ours.",
      hugging_face_id: "acme/one",
      deprecation_date: "2030-12-31",
      aliases: ["gpt-4o", "other/one"],
      created: 1_793_491_200,
      context_length: 4096,
      max_completion_tokens: 4000,
      max_output_length: 4000,
      default_reasoning_effort: "low",
      quantization: "q4_k_m",
      pricing: { prompt: "12", completion: "0.0000006", image: "0", request: "0.001" },
      default_sampling_parameters: { temperature: 0.5 },
    });
  });

  test("RESP-16 the price of a request is part of the cost", async () => {
    const { usage } = await own().complete({ model: "acme.ai/model-1", max_tokens: 1 });
    expect(usage.cost_usd).toBe(`${12 * usage.prompt_tokens}.0010006`);
  });

  test("REQ-34 MSG-24 another context is the bound of the caps, and in the words of the overflow", async () => {
    const model = "acme.ai/model-1";
    expect(await loweredIn({ model, max_tokens: 4001 })).toBe("max_tokens");
    expect(await loweredIn({ model, max_completion_tokens: 4000 })).toBeNull();
    const messages = [{ role: "user", content: "x".repeat(20_000) }];
    const { message, details } = await own().refuse({ model, messages });
    expect(message).toContain("maximum context length is 4096 tokens");
    expect(details).toMatchObject({ context_length: 4096, max_completion_tokens: 4000 });
  });

  test("RESP-23 a request without an effort has that of the model", async () => {
    const asked = async (members: object): Promise<number | undefined> => {
      const { usage } = await own().complete({ model: "acme.ai/model-1", ...members });
      return usage.completion_tokens_details?.reasoning_tokens;
    };
    expect(await asked({})).toBe(await asked({ reasoning_effort: "low" }));
    expect(await asked({})).toBeGreaterThan(0);
    expect(await asked({ reasoning_effort: "none" })).toBe(0);
  });

  test("MODL-16 RESP-04 an alias means the model, and the answer names the alias; the ledger names the id", async () => {
    for (const model of ["gpt-4o", "other/one"]) {
      expect((await own().complete({ model })).model).toBe(model);
      expect(await own().stream({ model })).toMatchObject({ end: "done" });
    }
    const rows = await own().ledger();
    expect(new Set(rows.map((row) => row.model))).toEqual(new Set(["acme.ai/model-1"]));
    const metrics = await own().metrics();
    expect(metrics).toContain('model="acme.ai/model-1"');
    expect(metrics).not.toContain("gpt-4o");
  });

  test("MODL-17 an alias retrieves the model with any spelling of its slash", async () => {
    const model = await (await own().fetch("/models/acme.ai/model-1")).json();
    for (const alias of ["gpt-4o", "other/one", "other%2Fone"])
      expect(await (await own().fetch(`/models/${alias}`)).json()).toEqual(model);
  });

  test("MODL-15 a key for the model is a key for its aliases, and no other key is", async () => {
    const asking = async (models: string[]) => withKey(await own().makeKey({ models }));
    expect((await own().chat({ model: "gpt-4o" }, await asking(["acme.ai/model-1"]))).status).toBe(200);
    const refused = await own().refuse({ model: "gpt-4o" }, await asking(["acme.ai/model-1-mini"]));
    expect(refused).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
  });

  test("REQ-34 a model may write more than those that the service was ordered with", async () => {
    const model = "acme.ai/model-1-mini";
    expect(await loweredIn({ model, max_tokens: 20_000 })).toBeNull();
    expect(await loweredIn({ model, max_tokens: 20_001 })).toBe("max_tokens");
  });

  async function loweredIn(members: Readonly<Record<string, unknown>>): Promise<string | null> {
    const response = await own().chat(members);
    expect(response.status).toBe(200);
    return response.headers.get("x-ignored-params");
  }
});
