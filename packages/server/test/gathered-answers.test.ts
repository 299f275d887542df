import { describe, expect, test } from "vitest";
import { modelId, play, say, testKey, toRefusal, until, withKey } from "@parley/server/testing";
import { RawConnection, requestText } from "./raw.ts";
import { useServer } from "./use-server.ts";

// Answers that are not streamed: the memory that they hold, and the request that is ended when they hold too much.

const answerBytes = 20_000;
const text = (characters: number) => [{ role: true, tokens: 0 }, { text: "x".repeat(characters) }] as const;

describe("an answer that is not streamed", () => {
  const server = useServer({ settings: { answerBytes } });
  const bytesOf = async (characters: number): Promise<Response> => server().chat(say("x".repeat(characters)));

  test("may be as large as the bound, and is refused with one byte more, and charged", async () => {
    const near = Buffer.byteLength(await (await bytesOf(answerBytes - 1000)).text());
    const characters = 2 * answerBytes - 1000 - near;
    expect(Buffer.byteLength(await (await bytesOf(characters)).text())).toBe(answerBytes);
    expect(await toRefusal(await bytesOf(characters + 1))).toMatchObject({
      status: 400,
      code: "invalid_value",
      param: "stream",
      message: expect.stringMatching(/larger than 20000 bytes.*stream: true/) as string,
    });
    const entries = await server().ledger();
    expect(entries.at(-1)).toMatchObject({ outcome: "failed", error_code: "invalid_value" });
    expect(entries.at(-1)?.completion_tokens).toBeGreaterThan(0);
    expect(await server().gauge("parley_answer_bytes")).toBe(0);
  });

  test("counts its log-probabilities", async () => {
    const asked = { ...say("x ".repeat(200)), logprobs: true, top_logprobs: 20 };
    const refusal = await server().refuse(asked);
    expect(refusal).toMatchObject({ status: 400, code: "invalid_value", param: "stream" });
    expect(await server().stream(asked)).toMatchObject({ end: "done" });
  });
});

describe("an answer of many pieces", () => {
  const server = useServer();

  test("is one JSON text, with a log-probability for every token", async () => {
    const said = "Ünïcode 🙂 ".repeat(500);
    const { choices } = await server().complete({ ...say(said), n: 2, logprobs: true, top_logprobs: 20 });
    for (const { message, logprobs } of choices) {
      expect(message.content).toContain(said.trim());
      const bytes = (logprobs?.content ?? []).flatMap((token) => token.bytes ?? []);
      expect(Buffer.from(bytes).toString()).toBe(message.content);
    }
  });
});

describe("when all answers together hold too much", () => {
  const hold = (characters: number) => [...text(characters), { stall: true }] as const;
  const server = useServer({
    settings: { answerBytes, totalAnswerBytes: 30_000 },
    scenarios: { large: hold(12_000), larger: hold(14_000), small: [...text(9000), { finish: "stop" }] },
  });

  test("the key with the most bytes loses its largest answer, and no other answer is affected", async () => {
    const greedy = withKey(await server().makeKey());
    const gone = new AbortController();
    const large = server().chat(play("large"), { ...greedy, signal: gone.signal });
    const larger = server().chat(play("larger"), greedy);
    await until(
      () => server().gauge("parley_answer_bytes"),
      (bytes) => bytes === 26_000,
    );
    const small = await server().chat(play("small"), withKey(await server().makeKey()));
    expect(small.status).toBe(200);
    expect(await toRefusal(await larger)).toMatchObject({
      status: 503,
      code: "service_unavailable",
      message: expect.stringMatching(/stream: true/) as string,
    });
    expect(await server().gauge("parley_answer_bytes")).toBe(12_000);
    expect(await server().gauge("parley_answers_given_up_total")).toBe(1);
    const pending = await Promise.race([large, Promise.resolve("waits")]);
    expect(pending).toBe("waits");
    gone.abort();
    await expect(large).rejects.toThrow("abort");
  });
});

describe("a client that does not read a large answer", () => {
  const server = useServer({
    settings: { slowReaderMs: 1200 },
    scenarios: {
      huge: [{ role: true, tokens: 0 }, ...Array.from({ length: 12 }, () => text(1_000_000)[1]), { finish: "stop" }],
    },
  });

  test("is disconnected, and the memory of the answer is free", async () => {
    using connection = await RawConnection.open(server().origin);
    connection.socket.pause();
    const body = JSON.stringify({ model: modelId, ...play("huge") });
    const { headers } = withKey(testKey);
    const bodyHeaders = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
    connection.send(requestText("POST /v1/chat/completions", { ...headers, ...bodyHeaders }, body));
    await until(
      () => server().gauge("parley_answer_bytes"),
      (bytes) => bytes >= 12_000_000,
      30_000,
    );
    await until(
      () => server().gauge("parley_answer_bytes"),
      (bytes) => bytes === 0,
    );
    connection.socket.resume();
    await connection.closed;
    expect(connection.socket.errored).toMatchObject({ code: "ECONNRESET" });
    expect(await server().gauge('parley_slots_in_use{model="vendor/model-1"}')).toBe(0);
  });

  test("that takes its time gets all of it", async () => {
    const answer = await server().chat(play("huge"));
    expect(((await answer.json()) as { choices: [{ message: { content: string } }] }).choices[0].message.content).toBe(
      "x".repeat(12_000_000),
    );
  });
});
