import { describe, expect, test } from "vitest";
import { CliProcess, parley } from "@parley/server/testing";
import { useFolder } from "./use-folder.ts";

const folder = useFolder();

describe.each([[["start"]], [["config", "check"]], [["doctor"]], [["keys", "list"]]])("parley %s", (args) => {
  test.each([
    [
      "a misspelt variable",
      { PARLEY_QUEUE_LENGHT: "3" },
      "PARLEY_QUEUE_LENGHT is not a setting: did you mean PARLEY_QUEUE_LENGTH?",
    ],
    [
      "a value in quotation marks",
      { PARLEY_API_KEY: '"sk-0123456789abcdef"' },
      "PARLEY_API_KEY has quotation marks around its value",
    ],
  ])("refuses %s, with exit code 2", async (_title, env, sentence) => {
    const { code, stderr } = await parley(args, folder.quick(env));
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toContain("0123456789");
  });
});

test.each([
  ["config", "check"],
  ["keys", "list"],
])("parley %s %s works beside a Kubernetes Service parley", async (...args) => {
  const options = folder.quick({ PARLEY_PORT: "tcp://10.0.0.7:8080", PARLEY_SERVICE_HOST: "10.0.0.7" });
  expect((await parley(["keys", "create", "--name", args.join("-")], options)).code).toBe(0);
  const { code, stderr } = await parley(args, options);
  expect([code, stderr.includes("enableServiceLinks: false")]).toEqual([0, args[0] === "config"]);
});

test("a server starts beside a Kubernetes Service parley-metrics, and names enableServiceLinks", async () => {
  const options = folder.quick({ PARLEY_METRICS_PORT: "tcp://10.0.0.7:9464", PARLEY_METRICS_SERVICE_HOST: "10.0.0.7" });
  await using server = new CliProcess(["start", "--metrics-port", "off"], options);
  await server.says(/Base URL/);
  expect(server.stderr).toContain("enableServiceLinks: false");
});

test("variables of clients, images and tests may stand beside those of the server", async () => {
  const env = {
    PARLEY_URL: "http://127.0.0.1:8080/v1",
    PARLEY_KEY: "key",
    PARLEY_IMAGE_NODE: "node",
    PARLEY_TEST_VLLM: "/opt/vllm",
  };
  expect((await parley(["config", "check"], folder.quick(env))).code).toBe(0);
});
