import { afterEach, describe, expect, test, vi } from "vitest";
import { createParley } from "../src/index.ts";
import { connect, errorOf, hello, testKey } from "./ask.ts";
import { answer, completion, startStub } from "./stub-server.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

const baseURL = "https://api.example.com/v1";

describe("createParley() throws at once and says what to write", () => {
  test.each([
    ["no address", undefined, 'There is no baseURL: write baseURL: "https://api.example.com/v1", or set PARLEY_URL.'],
    ["an empty address", "", "There is no baseURL"],
    ["an address without a scheme", "api.example.com/v1", "baseURL begins with https:// or http://"],
    ["a host and a port", "localhost:8080/v1", "baseURL begins with https:// or http://"],
    ["a path", "/v1", "baseURL begins with https:// or http://"],
    ["a scheme without a host", "https:///v1", "names a host"],
    ["another scheme", "ftp://api.example.com/v1", "baseURL begins with https:// or http://"],
    ["a user", "https://me:secret@api.example.com/v1", "without user, query and fragment"],
    ["a query", "https://api.example.com/v1?tenant=1", "without user, query and fragment"],
  ])("for %s", (_title, address, message) => {
    vi.stubEnv("PARLEY_URL", undefined);
    expect(() => createParley({ baseURL: address, apiKey: testKey })).toThrow(TypeError);
    expect(() => createParley({ baseURL: address, apiKey: testKey })).toThrow(message);
  });

  test.each([undefined, ""])("for the key %j", (apiKey) => {
    vi.stubEnv("PARLEY_KEY", undefined);
    const message = "There is no key: write apiKey, or set PARLEY_KEY.";
    expect(() => createParley({ baseURL, apiKey })).toThrow(new TypeError(message));
  });

  test("and a variable that is wrong is named", () => {
    vi.stubEnv("PARLEY_URL", "localhost:8080");
    expect(() => createParley({ apiKey: testKey })).toThrow(/^PARLEY_URL begins with https:\/\/ or http:\/\//);
  });
});

test("PARLEY_URL and PARLEY_KEY are the defaults, and options win over them", async () => {
  await using stub = await startStub(answer(200, completion));
  vi.stubEnv("PARLEY_URL", `${stub.origin}\n`);
  vi.stubEnv("PARLEY_KEY", ` ${testKey}\n`);
  await createParley().create(hello);
  await createParley({ apiKey: "another" }).create(hello);
  vi.stubEnv("PARLEY_URL", "http://127.0.0.1:9");
  await createParley({ baseURL: stub.baseURL }).create(hello);
  expect(stub.requests.map(({ headers }) => headers.authorization)).toEqual([
    `Bearer ${testKey}`,
    "Bearer another",
    `Bearer ${testKey}`,
  ]);
});

describe("with the globals of a browser,", () => {
  test.each([
    ["a page", { document: {} }],
    ["a worker", { navigator: { userAgent: "Mozilla/5.0 (X11; Linux x86_64)" } }],
  ])("%s is refused unless it is allowed", (_title, globals) => {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    for (const apiKey of [testKey, () => testKey]) {
      expect(() => createParley({ baseURL, apiKey })).toThrow(/dangerouslyAllowBrowser: true/);
      expect(createParley({ baseURL, apiKey, dangerouslyAllowBrowser: true })).toHaveProperty("create");
    }
  });
});

describe("an error of the connection names the address", () => {
  test("that could not be reached", async () => {
    const parley = connect("http://127.0.0.1:9/behind/v1", { maxRetries: 0 });
    for (const call of [parley.create(hello), parley.stream(hello).next()]) {
      const message = "The service could not be reached at http://127.0.0.1:9/behind/v1/chat/completions.";
      expect(await errorOf(call)).toMatchObject({ name: "ConnectionError", message });
    }
  });

  test("whose answer ended early", async () => {
    await using stub = await startStub((response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "10" }).write("{");
      setImmediate(() => response.destroy());
    });
    const error = await errorOf(connect(stub.baseURL, { maxRetries: 0 }).models());
    expect(error).toMatchObject({
      name: "ConnectionError",
      message: `The connection to ${stub.origin}/v1/models broke before the answer was complete.`,
    });
  });
});
