import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { findContainerEngine } from "../container/container-engine.ts";
import { inspectImage } from "../container/container-host.ts";
import { assertGpus } from "../container/gpus.ts";
import type { ContainerSettings } from "../container/plan-container.ts";
import { readModelFolder } from "../../model-folder/model-folder.ts";
import { findVllm } from "../process/find-vllm.ts";
import type { FoundVllm } from "../process/find-vllm.ts";
import type { ProcessSettings } from "../process/plan-process.ts";
import {
  examineContainers,
  examineDisk,
  examineSharedMemory,
  describeGpus,
  findGpus,
  gigabytes,
  memoryFor,
} from "./examine-machine.ts";
import type { Gpu } from "./examine-machine.ts";
import { bad, good } from "../../finding.ts";
import type { Finding } from "../../finding.ts";

/** The version with which the flags, the API and the faults were tested. */
const triedVersion = "0.32";

export interface Examined {
  /** The models that vLLM serves as a process, and those in a container. */
  readonly processes: readonly ProcessSettings[];
  readonly containers: readonly ContainerSettings[];
  /** The folder of the ledger and the logs. */
  readonly dataDir: string;
}

/** Finds in seconds everything that would keep these models from being served. A start would take minutes to show it. */
export async function examineVllm({ processes, containers, dataDir }: Examined): Promise<readonly Finding[]> {
  const gpus = await findGpus();
  const disks = [...new Set([tmpdir(), existsSync(dataDir) ? dataDir : tmpdir()])];
  const machine = [
    await examineContainers(),
    describeGpus(gpus),
    examineSharedMemory(),
    ...disks.map((folder) => examineDisk(folder, 1e9)),
  ];
  const each = await Promise.all([
    ...processes.map((settings) => examineModel(settings, gpus)),
    ...containers.map((settings) => examineContainer(settings, gpus)),
  ]);
  return [...machine, ...each.flat()];
}

async function examineContainer(settings: ContainerSettings, gpus: readonly Gpu[] | undefined): Promise<Finding[]> {
  const topic = settings.name;
  try {
    const engine = await findContainerEngine();
    const image = await inspectImage(engine, settings.image);
    if (!image.isCpu) await assertGpus(engine);
    const seen = `${settings.image}, for ${image.isCpu ? "processors" : "GPUs"}`;
    return [good(topic, seen), describePromptCache(settings), describeWeights(settings, image, gpus ?? [])];
  } catch (error) {
    return [bad(topic, error instanceof Error ? error.message : String(error))];
  }
}

async function examineModel(settings: ProcessSettings, gpus: readonly Gpu[] | undefined): Promise<Finding[]> {
  const topic = settings.name;
  try {
    const vllm = await findVllm(settings.vllm, settings.installFolder);
    return [
      describeVllm(topic, vllm),
      describePromptCache(settings),
      describeDevice(topic, vllm, gpus),
      describeWeights(settings, vllm, gpus ?? []),
    ];
  } catch (error) {
    return [bad(topic, error instanceof Error ? error.message : String(error))];
  }
}

function describeVllm(topic: string, { program, versionText }: FoundVllm): Finding {
  const isTried = versionText.startsWith(triedVersion);
  return good(topic, `vLLM ${versionText}${isTried ? "" : `, tried with ${triedVersion} only`} (${program})`);
}

/** Describes the prompt cache. An additional key-value cache may ignore the salt of a request. */
function describePromptCache({ name, extraArguments }: Pick<ProcessSettings, "name" | "extraArguments">): Finding {
  if (!extraArguments.some((argument) => /^--kv[-_](transfer|offloading)/.test(argument)))
    return good(name, "keeps the cached prompts of keys apart (cache_salt)");
  const seen = "its arguments add a key-value cache (--kv-…) to vLLM's own";
  return good(name, `${seen}: whether that one keeps keys apart (cache_salt) is not known`);
}

function describeDevice(topic: string, { isCpu }: FoundVllm, gpus: readonly Gpu[] | undefined): Finding {
  if (isCpu) return good(topic, "runs on the processors");
  if (gpus && gpus.length > 0) return good(topic, gpus.map(({ name }) => name).join(", "));
  return bad(
    topic,
    "This vLLM is built for GPUs, and no GPU driver answers (nvidia-smi): install one, or vLLM for processors with: parley vllm install",
  );
}

type Served = Pick<ProcessSettings, "name" | "weights" | "tensorParallel">;

/** Examines the memory: weights and some room for the key-value cache must fit. */
function describeWeights(settings: Served, { isCpu }: { readonly isCpu: boolean }, gpus: readonly Gpu[]): Finding {
  const { weightsBytes, quantization } = readModelFolder(settings.weights);
  const room = memoryFor(isCpu, gpus, settings.tensorParallel ?? 1);
  const seen = `${quantization} weights, ${gigabytes(weightsBytes)}, in memory of ${gigabytes(room)}`;
  if (weightsBytes === 0) return bad(settings.name, `${settings.weights} holds no weights (*.safetensors).`);
  if (weightsBytes * 1.1 <= room) return good(settings.name, seen);
  return bad(settings.name, "The weights do not fit: use more GPUs (tensor_parallel) or smaller weights.", seen);
}
