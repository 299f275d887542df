export type { Script, ScriptStep } from "./scripted/script.ts";
export { EngineError } from "./engine.ts";
export { FailedAfterError, transform } from "./wire/transform.ts";
export { neutralSampling } from "./neutral-sampling.ts";
export type {
  ChoiceEvent,
  Constraints,
  EndpointAttempt,
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
  PreparedPrompt,
  PromptRequest,
} from "./engine.ts";
export type { ChildEngine } from "./child/child-engine.ts";
export type { EngineStatus } from "./supervision/status.ts";
export { showSchema } from "./prompt/show-schema.ts";
export { compileGrammars } from "./answer/compile-grammars.ts";
export { RequestSchemas, schemaCompilations } from "./schemas/request-schemas.ts";
export type { WantedSchema } from "./schemas/request-schemas.ts";
export { SchemaCompiler } from "./schemas/schema-compiler.ts";
export { isShortage } from "./supervision/shortage.ts";
export { defaultTimings, patientTimings } from "./supervision/timings.ts";
export type { Timings } from "./supervision/timings.ts";
export type { SupervisorReport } from "./supervision/supervised.ts";
export type { Finding } from "./finding.ts";
