import type { Tool } from "../tool.ts";

export const kotlin: readonly Tool[] = [];
