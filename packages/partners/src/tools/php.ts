import type { Tool } from "../tool.ts";

export const php: readonly Tool[] = [];
