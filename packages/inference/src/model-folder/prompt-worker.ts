import { workerData } from "node:worker_threads";
import { servePrompts } from "../prompt/prompt-worker.ts";
import { readModelFolder } from "./model-folder.ts";
import { openRenderer } from "./open-renderer.ts";

// The thread is started with the path of the model's folder as its data.
servePrompts(openRenderer(readModelFolder(workerData as string)));
