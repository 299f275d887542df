import contract from "@parley/contract/contract.json" with { type: "json" };
import type { ReasoningEffort } from "./model-settings.ts";
import type { Setting } from "./setting.ts";
import { shortcut } from "./setting.ts";
import { baseUrl, listOf, path } from "./value-kinds.ts";

const topics = "on-chain analysis, DeFi, smart contracts, DAOs, security, agent interaction and question answering";

const demonstrates = (size: string): string =>
  `Demonstration model. ${size} for Web3 questions: ${topics}. It knows little and does not replace the operator's model.`;

/**
 * The demonstration models in the repository, by folder. The prompt tokens are those of the longest training example, as in
 * their model cards.
 */
export const demoModels = {
  "model-1": { description: demonstrates("A small language model"), trainedPromptTokens: 1379 },
  "model-1-mini": {
    description: demonstrates("A smaller language model, distilled from model-1,"),
    trainedPromptTokens: 1342,
  },
} as const;

/** The description of models on the scripted engine. It tells callers that nothing is computed. */
export const stubDescription = "A stub that plays a script. It is not a language model. It exists to test clients.";

/** The defaults of a model entry, with the names of the file. */
export interface ModelDefaults {
  readonly label: string;
  readonly description: string;
  /** Creation time of the default models, in seconds of Unix time. */
  readonly created: number;
  readonly max_completion_tokens: number;
  readonly default_reasoning_effort: ReasoningEffort;
  /** If the prices of tokens are absent here, an entry must set them, so no model is free by mistake. */
  readonly pricing: Readonly<Record<"image" | "request", string> & Partial<Record<"prompt" | "completion", string>>>;
  readonly demo?: keyof typeof demoModels;
}

const anyModel = {
  description: "A language model.",
  created: 1_751_328_000,
  max_completion_tokens: contract["x-limits"].maxCompletionTokens.value,
  default_reasoning_effort: "none",
  pricing: { image: "0", request: "0" },
} as const;

const ordered = { ...anyModel, description: `A language model specialised in Web3: ${topics}.` };

/** The models that are served if `models` is absent. An entry with one of these names has the same defaults. */
const defaultModels: Readonly<Record<string, ModelDefaults>> = {
  "model-1": {
    ...ordered,
    label: "Model 1",
    pricing: { prompt: "0.0000003", completion: "0.0000006", image: "0", request: "0" },
    demo: "model-1",
  },
  "model-1-mini": {
    ...ordered,
    label: "Model 1 Mini",
    pricing: { prompt: "0.0000002", completion: "0.0000004", image: "0", request: "0" },
    demo: "model-1-mini",
  },
};

export const defaultNames: readonly string[] = Object.keys(defaultModels);

export const defaultsOf = (name: string): ModelDefaults => defaultModels[name] ?? { ...anyModel, label: name };

/** Settings of the default models that need no file: three variables for each model. */
export const modelShortcuts: readonly Setting[] = defaultNames.flatMap((name) => {
  const env = (kind: string): string => `PARLEY_${name.toUpperCase().replaceAll("-", "_")}_${kind}`;
  const instead = `to use instead of the demonstration model ${name}`;
  return [
    shortcut(env("GGUF"), ["models", name, "gguf"], path(), `GGUF file ${instead}`),
    shortcut(env("WEIGHTS"), ["models", name, "weights"], path(), `folder of weights for vLLM ${instead}`),
    shortcut(
      env("URL"),
      ["models", name, "remote", "urls"],
      listOf("addresses", baseUrl()),
      `addresses of a remote ${name}, separated by commas`,
    ),
  ];
});
