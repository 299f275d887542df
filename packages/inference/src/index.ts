export { startEmbeddedEngine } from "./embedded/embedded-engine.ts";
export { startScriptedEngine } from "./scripted/scripted-engine.ts";
export type { Script, ScriptStep } from "./scripted/script.ts";
export { EngineError } from "./engine.ts";
export type {
  Engine,
  EngineEvent,
  EngineMetadata,
  EngineGauges,
  EngineRequest,
  EngineState,
  EngineUsage,
  FinishReason,
  FunctionTool,
  RequestOrigin,
  Sampling,
  OutputToken,
  PromptRequest,
  UncompiledRequest,
} from "./engine.ts";
export type { ChildEngine } from "./child/child-engine.ts";
export type { EngineStatus } from "./sidecar/status.ts";
export type { Schema } from "./schema/dialect/raw-schema.ts";
export { FairQueue } from "./fair/fair-queue.ts";
export type { FairJob } from "./fair/fair-queue.ts";
export { FairShare } from "./fair/fair-share.ts";
export type { WeightedKey } from "./fair/fair-share.ts";
export { showSchema } from "./prompt/show-schema.ts";
export { compileGrammars } from "./answer/compile-grammars.ts";
export { RequestSchemas, schemaCompilations } from "./schema/request-schemas.ts";
export type { WantedSchema } from "./schema/request-schemas.ts";
export { annotationKeywords, enforcedKeywords } from "./schema/dialect/keywords.ts";
export { explainSchema } from "./schema/explain-schema.ts";
export type { SchemaReport } from "./schema/explain-schema.ts";
export { nearestForm } from "./schema/nearest-form.ts";
export { SchemaCompiler } from "./schema/schema-compiler.ts";
export type { CompiledSchema } from "./schema/compile-schema.ts";
export type { SchemaFault } from "./schema/schema-fault.ts";
export { defaultTimings, patientTimings } from "./sidecar/timings.ts";
export type { Timings } from "./sidecar/timings.ts";
export type { SupervisorReport } from "./sidecar/supervised.ts";
export { startRemoteEngine } from "./remote/remote-engine.ts";
export type { RemoteOptions, RemoteProtocol } from "./remote/remote-engine.ts";
export { startVllmProcess } from "./vllm/process/process-host.ts";
export type { VllmProcessOptions } from "./vllm/process/process-host.ts";
export type { VllmSidecar } from "./vllm/sidecar/vllm-sidecar.ts";
export { coresFor, engineVariables } from "./vllm/serve/environment.ts";
export { serveArguments } from "./vllm/serve/serve-arguments.ts";
export { findVllm } from "./vllm/process/find-vllm.ts";
export { explainContainer, explainProcess } from "./vllm/explain-start.ts";
export { deriveModelFolder } from "./model-folder/derive-model-folder.ts";
export { ModelFolderError } from "./model-folder/model-folder.ts";
export { EngineFiles } from "./vllm/sidecar/engine-files.ts";
export { examineVllm } from "./vllm/doctor/examine-vllm.ts";
export { examinePort, findGpus } from "./vllm/doctor/examine-machine.ts";
export type { Finding } from "./finding.ts";
export { examineEmbedded, examineScript, examineTokenizer } from "./examine-model.ts";
export { MissingForVllm, installVllm, installedBytes } from "./vllm/install/install-vllm.ts";
export { startVllmContainer } from "./vllm/container/container-host.ts";
export type { VllmContainerOptions } from "./vllm/container/container-host.ts";
