import { homedir } from "node:os";
import { join } from "node:path";
import { installVllm } from "../packages/inference/src/vllm/install/install-vllm.ts";

/** What the tests against a real vLLM need: five gigabytes that outlive the checkout, unless one is named that is there. */
const named = process.env["PARLEY_TEST_VLLM"];
if (named === undefined) {
  const folder = join(homedir(), ".cache/parley/vllm");
  await installVllm({ folder, python: process.env["PARLEY_TEST_PYTHON"], say: (line) => console.log(line) });
} else {
  console.log(`The tests use ${named}.`);
}
