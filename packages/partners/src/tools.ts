import type { Tool } from "./tool.ts";
import { go } from "./tools/go.ts";
import { java } from "./tools/java.ts";
import { kotlin } from "./tools/kotlin.ts";
import { php } from "./tools/php.ts";
import { python } from "./tools/python.ts";
import { ruby } from "./tools/ruby.ts";
import { rust } from "./tools/rust.ts";
import { typescript } from "./tools/typescript.ts";

export const tools: readonly Tool[] = [...typescript, ...python, ...go, ...java, ...kotlin, ...rust, ...ruby, ...php];
