import { workerData } from "node:worker_threads";
import { servePrompts } from "../../prompt/prompt-worker.ts";
import { openRenderer } from "./open-renderer.ts";

// The thread is started with the path of the model file as its data.
servePrompts(await openRenderer(workerData as string));
