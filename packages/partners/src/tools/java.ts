import type { Tool } from "../tool.ts";

export const java: readonly Tool[] = [];
