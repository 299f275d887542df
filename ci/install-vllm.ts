import { homedir } from "node:os";
import { join } from "node:path";
import { installVllm } from "../packages/inference/src/vllm/install/install-vllm.ts";

/** What the tests against a real vLLM need: five gigabytes that outlive the checkout. */
const folder = process.env["PARLEY_TEST_VLLM"] ?? join(homedir(), ".cache/parley/vllm");
await installVllm({ folder, python: process.env["PARLEY_TEST_PYTHON"], say: (line) => console.log(line) });
