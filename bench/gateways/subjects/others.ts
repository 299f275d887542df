import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { startProgram } from "./start-program.ts";
import { chatPath, modelName } from "./subject.ts";
import type { Subject, SubjectKind } from "./subject.ts";
import { installNode, installPython, missingTool, toolPath } from "./tools.ts";

/** Other projects' gateways, at the versions that are compared. */
const versions = { vllmRouter: "0.1.17", sglangRouter: "0.3.2", portkey: "1.15.2", litellm: "1.106.2" } as const;

const vllmRouter: SubjectKind = {
  name: "vllm-router",
  title: `vllm-router ${versions.vllmRouter}`,
  missing: () => missingTool(toolPath("vllm-router/bin/vllm-router"), "vllm-router"),
  install: () => installPython("vllm-router", `vllm-router==${versions.vllmRouter}`),
  start: async (engine, folder) => {
    const port = await freePort();
    const own = ["--host", "127.0.0.1", "--port", String(port), "--prometheus-port", String(await freePort())];
    const args = [...own, "--worker-urls", engine.url, "--policy", "round_robin"];
    const command = toolPath("vllm-router/bin/vllm-router");
    return untilAnswering(await startProgram({ command, args, port, healthPath: "/health", folder }));
  },
};

const sglangRouter: SubjectKind = {
  name: "sglang-router",
  title: `sglang-router ${versions.sglangRouter}`,
  missing: () => missingTool(toolPath("sglang-router/bin/python"), "sglang-router"),
  install: () => installPython("sglang-router", `sglang-router==${versions.sglangRouter}`),
  start: async (engine, folder) => {
    const port = await freePort();
    const own = ["--host", "127.0.0.1", "--port", String(port), "--prometheus-port", String(await freePort())];
    const args = ["-m", "sglang_router.launch_router", ...own, "--worker-urls", engine.url, "--policy", "round_robin"];
    const command = toolPath("sglang-router/bin/python");
    return untilAnswering(await startProgram({ command, args, port, healthPath: "/health", folder }));
  },
};

const portkeyServer = "node_modules/@portkey-ai/gateway/build/start-server.js";

const portkey: SubjectKind = {
  name: "portkey",
  title: `Portkey ${versions.portkey}`,
  missing: () => missingTool(toolPath("portkey", portkeyServer), "Portkey"),
  install: () => installNode("portkey", `@portkey-ai/gateway@${versions.portkey}`),
  start: async (engine, folder) => {
    const port = await freePort();
    const args = [toolPath("portkey", portkeyServer), `--port=${port}`, "--headless"];
    const headers = {
      authorization: "Bearer none",
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `${engine.url}/v1`,
    };
    // It forwards to an address of this machine only if that host is allowed by name.
    const env = { TRUSTED_CUSTOM_HOSTS: "127.0.0.1,localhost" };
    const program = { command: process.execPath, args, env, port, healthPath: "/", headers, folder };
    return untilAnswering(await startProgram(program));
  },
};

const litellm: SubjectKind = {
  name: "litellm",
  title: `LiteLLM ${versions.litellm}`,
  missing: () => missingTool(toolPath("litellm/bin/litellm"), "LiteLLM"),
  install: () => installPython("litellm", `litellm[proxy]==${versions.litellm}`),
  start: async (engine, folder) => {
    const port = await freePort();
    const upstream = { model: `hosted_vllm/${modelName}`, api_base: `${engine.url}/v1`, api_key: "none" };
    const file = join(folder, "litellm.yaml");
    writeFileSync(file, JSON.stringify({ model_list: [{ model_name: modelName, litellm_params: upstream }] }));
    const args = ["--host", "127.0.0.1", "--port", String(port), "--config", file, "--telemetry", "False"];
    // It does not start without a key. Every request then sends that key.
    const key = "sk-bench";
    const env = { LITELLM_LOCAL_MODEL_COST_MAP: "True", LITELLM_MASTER_KEY: key };
    const command = toolPath("litellm/bin/litellm");
    const headers = { authorization: `Bearer ${key}` };
    const program = { command, args, env, port, healthPath: "/health/liveliness", headers, folder };
    return untilAnswering(await startProgram(program));
  },
};

/** Waits for the first answer, because these gateways listen before they know their worker. */
async function untilAnswering(subject: Subject): Promise<Subject> {
  const body = JSON.stringify({ model: modelName, messages: [{ role: "user", content: "Hello" }], max_tokens: 1 });
  const headers = { "content-type": "application/json", ...subject.headers };
  let last = "";
  for (let tries = 0; tries < 300; tries += 1) {
    const answer = await fetch(`http://127.0.0.1:${subject.port}${chatPath}`, { method: "POST", headers, body });
    last = `${answer.status} ${await answer.text()}`;
    if (answer.ok) return subject;
    await wait(100);
  }
  await subject[Symbol.asyncDispose]();
  throw new Error(`It listens and does not answer: ${last.slice(0, 300)}`);
}

export const otherSubjects: readonly SubjectKind[] = [vllmRouter, sglangRouter, portkey, litellm];
