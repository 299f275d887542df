import type { Tool } from "../tool.ts";

export const rust: readonly Tool[] = [];
