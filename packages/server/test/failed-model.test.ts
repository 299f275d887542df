import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CliProcess, chatInit } from "@parley/server/testing";
import { baseUrlOf, useFolder } from "./use-folder.ts";

const folder = useFolder();

describe("one of two models that cannot start", () => {
  test("leaves the other one serving; the start says so, and /ready why", async () => {
    const path = join(folder.path(), "gone.gguf");
    const dataDir = folder.fresh();
    const env = { PARLEY_DATA_DIR: dataDir, PARLEY_MODEL_1_GGUF: path, PARLEY_METRICS_PORT: "0", PORT: "0" };
    await using server = new CliProcess(["start"], {
      cwd: folder.path(),
      env: { ...env, PARLEY_API_KEY: "key-0123456789abcdef" },
    });
    const [, told] = await server.says(/ERROR: (.*gone\.gguf.*)\nThe other models are served without it\./);
    const url = await baseUrlOf(server);
    const ready = async (query: string) => {
      const response = await fetch(new URL(`/ready${query}`, url));
      return { status: response.status, body: await response.json() };
    };
    expect(await ready("")).toMatchObject({ status: 200 });
    const failed = await ready("?model=vendor/model-1");
    expect(failed).toMatchObject({ status: 503, body: { models: { "vendor/model-1": "failed" } } });
    expect(JSON.stringify(failed.body)).toContain("gone.gguf");
    expect(told).toContain("vendor/model-1");
    const [, pasted] = await server.says(/"model": "([^"]+)"/);
    expect(pasted).toBe("vendor/model-1-mini");
    const headers = { authorization: "Bearer key-0123456789abcdef" };
    const chat = (model: string) => fetch(`${url}/chat/completions`, chatInit({ model, max_tokens: 5 }, { headers }));
    expect((await chat("vendor/model-1-mini")).status).toBe(200);
    expect((await chat("vendor/model-1")).status).toBe(503);
  }, 60_000);
});
