export type { Script, ScriptStep } from "./scripted/script.ts";
export { EngineError } from "./engine.ts";
export { FailedAfterError, transform } from "./wire/transform.ts";
export { neutralSampling } from "./neutral-sampling.ts";
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
export { parseJson, parseJsonWith } from "./json/parse-json.ts";
export { scanJson, sourceOfMember } from "./json/scan-json.ts";
export { FairQueue } from "./fair/fair-queue.ts";
export type { FairJob } from "./fair/fair-queue.ts";
export { FairShare } from "./fair/fair-share.ts";
export type { WeightedKey } from "./fair/fair-share.ts";
export { showSchema } from "./prompt/show-schema.ts";
export { compileGrammars } from "./answer/compile-grammars.ts";
export { RequestSchemas, schemaCompilations } from "./schema/request-schemas.ts";
export type { WantedSchema } from "./schema/request-schemas.ts";
export { annotationKeywords, enforcedKeywords } from "./schema/dialect/keywords.ts";
export type { SchemaReport } from "./schema/explain-schema.ts";
export { nearestForm } from "./schema/nearest-form.ts";
export { SchemaCompiler } from "./schema/schema-compiler.ts";
export type { CompiledSchema } from "./schema/compile-schema.ts";
export type { SchemaFault } from "./schema/schema-fault.ts";
export { isShortage } from "./sidecar/shortage.ts";
export { defaultTimings, patientTimings } from "./sidecar/timings.ts";
export type { Timings } from "./sidecar/timings.ts";
export type { SupervisorReport } from "./sidecar/supervised.ts";
export type { Finding } from "./finding.ts";
