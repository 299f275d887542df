/** What an operator may say of one model in `parley.yaml`, under `models: {model-1: {…}, model-1-mini: {…}}`. */
export interface ModelSettings {
  /** Display label; the name is `<vendor label>: <label>`. */
  readonly label?: string;
  readonly description?: string;
  readonly hugging_face_id?: string;
  /** `YYYY-MM-DD`. */
  readonly deprecation_date?: string;
  /** US dollars: per token, per image, per request; decimal strings. */
  readonly pricing?: Partial<Record<"prompt" | "completion" | "image" | "request", string>>;
  /** A smaller context than the file declares, in tokens. */
  readonly context_length?: number;
  /** Values that apply where a request names none. */
  readonly sampling?: Partial<Record<SamplingName, number>>;
}

export const samplingNames = [
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "frequency_penalty",
  "presence_penalty",
  "repetition_penalty",
] as const;
type SamplingName = (typeof samplingNames)[number];

export const modelNames = ["model-1", "model-1-mini"] as const;
export type ModelName = (typeof modelNames)[number];
