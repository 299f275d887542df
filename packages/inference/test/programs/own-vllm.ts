import { startVllm } from "../vllm/start-vllm.ts";

/** A server in miniature, to be killed: keeps an engine whose state is kept in a folder, and says its process. */
const { vllm } = startVllm({ stateFolder: process.argv[2] ?? "" });
await vllm.engine.whenReady();
console.log(JSON.stringify({ pid: vllm.pid }));
setInterval(() => undefined, 60_000);
