import type { Tool } from "./tool.ts";
import { go } from "./tools/go.ts";
import { jvm } from "./tools/jvm.ts";
import { minorLanguages } from "./tools/minor-languages.ts";
import { python } from "./tools/python.ts";
import { typescript } from "./tools/typescript.ts";

export const tools: readonly Tool[] = [...typescript, ...python, ...go, ...jvm, ...minorLanguages];
