import { describe, expect, test } from "vitest";
import { testKey } from "@parley/server/testing";
import { useServer } from "./use-server.ts";

const anyOrigin = useServer();
const oneOrigin = useServer({ settings: { corsOrigins: ["https://app.example", "http://localhost:3000"] } });
const origin = "https://app.example";
const corsHeaders = (headers: Headers): string[] =>
  [...headers.keys()].filter((name) => name.startsWith("access-control"));
const preflight = (url: string, from = origin): Promise<Response> =>
  fetch(url, {
    method: "OPTIONS",
    headers: {
      origin: from,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,x-stainless-lang",
    },
  });

describe("HTTP-24 HTTP-27 HTTP-33 a preflight", () => {
  test.each(["/v1/chat/completions", "/v1/models", "/v1/models/vendor/model-1"])(
    "of %s is answered without a key",
    async (path) => {
      const response = await preflight(anyOrigin().origin + path);
      expect(response.status).toBe(204);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, POST",
        "access-control-allow-headers": "authorization,content-type,x-stainless-lang",
        "access-control-max-age": "86400",
      });
      expect(response.headers.has("access-control-allow-credentials")).toBe(false);
      expect(response.headers.has("x-request-id")).toBe(true);
    },
  );

  test("from an origin of the list is answered for it", async () => {
    const { headers } = await preflight(`${oneOrigin().baseUrl}/models`);
    expect(headers.get("access-control-allow-origin")).toBe(origin);
    expect(headers.get("vary")).toContain("Origin");
  });

  test("from another origin is a request like any other", async () => {
    const response = await preflight(`${oneOrigin().baseUrl}/models`, "https://evil.example");
    expect(response.status).toBe(401);
    expect(corsHeaders(response.headers)).toEqual([]);
  });

  test("that asks for nothing is not a preflight", async () => {
    const response = await anyOrigin().fetch("/models", { method: "OPTIONS", headers: { origin } });
    expect(response.status).toBe(405);
  });
});

describe("an answer", () => {
  const exposed = [
    "x-request-id",
    "x-client-request-id",
    ...["limit", "remaining", "reset"].flatMap((what) => [
      `x-ratelimit-${what}-requests`,
      `x-ratelimit-${what}-tokens`,
    ]),
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "x-ignored-params",
  ];

  test("HTTP-25 HTTP-27 to an allowed origin lets its scripts read our headers, errors and streams included", async () => {
    const answers = [
      await anyOrigin().fetch("/models", { headers: { origin } }),
      await anyOrigin().fetch("/nothing", { headers: { origin } }),
      await anyOrigin().chat({ stream: true }, { headers: { origin } }),
      await anyOrigin().fetch("/models", { headers: { origin, authorization: "Bearer wrong" } }),
      await oneOrigin().fetch("/models", { headers: { origin } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 200, 401, 200]);
    for (const { headers } of answers) {
      expect(["*", origin]).toContain(headers.get("access-control-allow-origin"));
      const names = headers.get("access-control-expose-headers")?.split(", ") ?? [];
      expect(names).toEqual(expect.arrayContaining(exposed));
      expect(headers.has("access-control-allow-credentials")).toBe(false);
    }
    await answers[2]?.text();
  });

  test("HTTP-26 to a request without Origin has no CORS headers", async () => {
    for (const server of [anyOrigin(), oneOrigin()]) {
      expect(corsHeaders((await server.fetch("/models")).headers)).toEqual([]);
      const authorization = `Bearer ${testKey}`;
      const options = await fetch(`${server.baseUrl}/models`, { method: "OPTIONS", headers: { authorization } });
      expect(options.status).toBe(405);
      expect(corsHeaders(options.headers)).toEqual([]);
    }
  });

  test("to another origin is given without them: its scripts cannot read it", async () => {
    const response = await oneOrigin().fetch("/models", { headers: { origin: "https://evil.example" } });
    expect(response.status).toBe(200);
    expect(corsHeaders(response.headers)).toEqual([]);
  });
});
