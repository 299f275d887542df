import { describe, expect, test } from "vitest";
import { RawConnection, requestText } from "./raw.ts";
import { testKey } from "@parley/server/testing";
import { useServer } from "./use-server.ts";

/** HTTP-05 HTTP-06: a 404 names the URL that the caller probably meant. A misspelled URL serves nothing. */

const server = useServer();

interface Answer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** Sends a path unchanged. `fetch` would normalize it. */
async function ask(method: string, path: string): Promise<Answer> {
  using connection = await RawConnection.open(server().origin);
  const body = method === "POST" ? "{}" : "";
  const headers = { Authorization: `Bearer ${testKey}`, "Content-Type": "application/json" };
  connection.send(requestText(`${method} ${path}`, headers, body));
  const answer = await connection.read(method, path);
  const { error } = JSON.parse(answer?.body ?? "") as { error: Omit<Answer, "status"> }; // other tests check its form
  return { status: answer?.status ?? 0, code: error.code, message: error.message };
}

const chat = "POST /v1/chat/completions";

describe("HTTP-06 a near miss of chat completions", () => {
  const endsWithV1 = "The base URL must end with /v1";
  const isTheAddress = "The base URL must be the address of this service, followed by /v1";
  test.each([
    ["/v1//chat/completions", "The path has too many slashes"],
    ["//v1/chat/completions", "The path has too many slashes"],
    ["/v1/chat//completions", "The path has too many slashes"],
    ["/v1///chat//completions/", "The path has too many slashes"],
    ["/v1/chat/completions/", "Leave out the slash at the end"],
    ["/v1/chat/completions//", "Leave out the slash at the end"],
    ["/chat/completions", endsWithV1],
    ["/chat/completions/", endsWithV1],
    ["//chat/completions", endsWithV1],
    ["/Chat/Completions", endsWithV1],
    ["/v1/v1/chat/completions", "The base URL ends with /v1 already"],
    ["/v1/v1/v1/chat/completions", "The base URL ends with /v1 already"],
    ["/v1//v1/chat/completions", "The base URL ends with /v1 already"],
    ["/v1/chat/completions/chat/completions", `${endsWithV1}, without /chat/completions`],
    ["/v1/chat/completions//chat/completions", `${endsWithV1}, without /chat/completions`],
    ["/v1/chat/completions/v1/chat/completions", `${endsWithV1}, without /chat/completions`],
    ["/chat/completions/v1/chat/completions", `${endsWithV1}, without /chat/completions`],
    ["/V1/chat/completions", "Write the path in small letters"],
    ["/v1/Chat/Completions", "Write the path in small letters"],
    ["/V1/CHAT/COMPLETIONS", "Write the path in small letters"],
    ["/v1/chat/completions%20", "The path has characters that do not belong to it"],
    ["/v1/chat/completions%0A", "The path has characters that do not belong to it"],
    ["/v1/chat/completions%22", "The path has characters that do not belong to it"],
    ["/v1/chat/completions.", "The path has characters that do not belong to it"],
    ["/v1/%20chat/completions", "The path has characters that do not belong to it"],
    ["/v1%2Fchat%2Fcompletions", "The path has characters that do not belong to it"],
    ["/v1\\chat\\completions", "The path has characters that do not belong to it"],
    ["/v1/chat/completions&stream=true", "The path has characters that do not belong to it"],
    ["/v1/chat/completions#x", "The path has characters that do not belong to it"],
    ["/v1/chat/completions.json", "The path has characters that do not belong to it"],
    ["/v1/chat/completions:stream", "The path has characters that do not belong to it"],
    ["/v1chat/completions", "The path lacks a slash"],
    ["/v1/chat/completions%3Fapi-version=1", "The path has characters that do not belong to it"],
    ["/v1/chat/completions;a=b", "The path has characters that do not belong to it"],
    ["/v1/%ff/chat/completions", isTheAddress],
    ["/openai/v1/chat/completions", isTheAddress],
    ["/api/v1/chat/completions", isTheAddress],
    ["/api/chat/completions", isTheAddress],
    ["/v2/chat/completions", isTheAddress],
    ["/v1beta/openai/chat/completions", isTheAddress],
    ["/v1/openai/chat/completions", isTheAddress],
    ["/undefined/chat/completions", isTheAddress],
    ["/openai/deployments/model-1/chat/completions?api-version=2024-10-21", isTheAddress],
    ["/v1/chat/completion", "The path is misspelt"],
    ["/v1/chat/completitions", "The path is misspelt"],
    ["/v1/chats/completions", "The path is misspelt"],
    ["/v1/chat_completions", "The path is misspelt"],
    ["/v1/chatcompletions", "The path is misspelt"],
    ["/v1/chat.completions", "The path is misspelt"],
  ])("%s: %s", async (path, fault) => {
    const { status, code, message } = await ask("POST", path);
    expect([status, code]).toEqual([404, "unknown_url"]);
    const [shown = ""] = path.split("?");
    expect(message).toBe(`Nothing is served at ${shown}. ${fault}: use ${chat}.`);
  });
});

describe("HTTP-06 a near miss of the models", () => {
  test.each([
    ["/models", "GET /v1/models"],
    ["/v1/models/", "GET /v1/models"],
    ["/v1//models", "GET /v1/models"],
    ["/v1/v1/models", "GET /v1/models"],
    ["/V1/Models", "GET /v1/models"],
    ["/api/v1/models", "GET /v1/models"],
    ["/openai/models?api-version=1", "GET /v1/models"],
    ["/v1/chat/completions/models", "GET /v1/models"],
    ["/v1/chat/completions/v1/models", "GET /v1/models"],
    ["/v1/completions/models", "GET /v1/models"],
    ["/v1/chat/models", "GET /v1/models"],
    ["/v1models", "GET /v1/models"],
    ["/v1models/vendor/model-1", "GET /v1/models/vendor/model-1"],
    ["/v1/models.json", "GET /v1/models"],
    ["/v1/model", "GET /v1/models"],
    ["/models/vendor/model-1", "GET /v1/models/vendor/model-1"],
    ["/models/vendor%2Fmodel-1", "GET /v1/models/vendor/model-1"],
    ["/v1/models/vendor/model-1/", "GET /v1/models/vendor/model-1"],
    ["/v1/model/vendor/model-1", "GET /v1/models/vendor/model-1"],
    ["/api/v1/models/Vendor/A%20B", "GET /v1/models/Vendor/A%20B"],
  ])("%s: %s", async (path, right) => {
    const { status, code, message } = await ask("GET", path);
    expect([status, code]).toEqual([404, "unknown_url"]);
    expect(message).toMatch(new RegExp(`: use ${right}\\.$`));
  });

  test("HTTP-02 a chat request to a base URL that ends in /models gets the right URL", async () => {
    for (const path of ["/v1/models", "/v1/models/chat/completions"])
      expect(await ask("POST", path)).toMatchObject({ status: 405, message: expect.stringContaining(chat) as unknown });
  });
});

test.each([
  ["/v1/health", "GET /health and GET /ready"],
  ["/healthz", "GET /health and GET /ready"],
  ["/v1/readyz", "GET /health and GET /ready"],
  ["/v1/docs", "at /docs"],
  ["/swagger", "at /docs"],
  ["/v1/openapi.json", "at /openapi.json"],
  ["/swagger.json", "at /openapi.json"],
  ["/v3/api-docs", "at /openapi.json"],
  ["/metrics", "a port of their own"],
])("a near miss of another page: %s: %s", async (path, hint) => {
  const { status, code, message } = await ask("GET", path);
  expect([status, code]).toEqual([404, "unknown_url"]);
  expect(message).toContain(hint);
});

describe("HTTP-06 an API that is not offered", () => {
  const guide = "/docs/guides/your-app";
  test.each([
    ["/v1/responses", chat],
    ["/responses", chat],
    ["/v1/responses/resp_1/cancel", chat],
    ["/openai/v1/responses", chat],
    ["/v1/completions", chat],
    ["/completions", chat],
    ["/completion", chat],
    ["/v1/engines/model-1/completions", chat],
    ["/generate", chat],
    ["/v1/messages", chat],
    ["/v1/messages/count_tokens", chat],
    ["/api/chat", chat],
    ["/api/generate", chat],
    ["/api/tags", chat],
    ["/v1beta/models/model-1:generateContent", chat],
    ["/v1/assistants", chat],
    ["/v1/threads/thread_1/runs", chat],
    ["/v1/conversations", chat],
    ["/v1/embeddings", "Embeddings are not offered"],
    ["/v1/images/generations", "Images and videos are not offered"],
    ["/v1/audio/transcriptions", "Speech and sound are not offered"],
    ["/v1/audio/speech", "Speech and sound are not offered"],
    ["/v1/realtime", "Speech and sound are not offered"],
    ["/v1/moderations", "Moderation and ranking are not offered"],
    ["/v1/rerank", "Moderation and ranking are not offered"],
    ["/v1/files", "Files, batches and fine-tuning are not offered"],
    ["/v1/batches/batch_1", "Files, batches and fine-tuning are not offered"],
    ["/v1/fine_tuning/jobs", "Files, batches and fine-tuning are not offered"],
  ])("%s: %s, and the guide", async (path, hint) => {
    const { status, code, message } = await ask("POST", path);
    expect([status, code]).toEqual([404, "unknown_url"]);
    expect(message).toContain(hint);
    expect(message).toContain(guide);
  });

  test("answers are not stored, so a conversation needs its messages", async () => {
    expect((await ask("GET", "/v1/chat/completions/chatcmpl-1")).message).toContain("Answers are not kept here.");
    expect((await ask("POST", "/v1/chat")).message).toContain(`Send chat requests to ${chat}.`);
  });
});

describe("HTTP-05 any other path", () => {
  test.each(["/v1", "/v1/", "/v1/nothing", "/v1/x/../models/", "/v1/%", "/v1/%e0%a4%a", "/v1/__proto__"])(
    "%s gets the list of existing paths",
    async (path) => {
      const { status, code, message } = await ask("GET", path);
      expect([status, code]).toEqual([404, "unknown_url"]);
      expect(message).toMatch(/ GET \/v1\/models/);
    },
  );

  test("a long one is judged by its beginning, at little cost, and does not come back", async () => {
    for (const path of [`/${".".repeat(7000)}x`, `/${"/a".repeat(3500)}`, `/models/${"%20".repeat(2300)}x`]) {
      const before = process.cpuUsage();
      const { status, message } = await ask("GET", path);
      expect([status, message.length < 500]).toEqual([404, true]);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000).toBeLessThan(1000);
    }
  });

  test("AUTH-11 without a key, nothing under /v1 is revealed", async () => {
    const answer = await fetch(`${server().origin}/v1//chat/completions`, { method: "POST" });
    expect(answer.status).toBe(401);
  });
});
