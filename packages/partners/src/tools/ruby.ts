import type { Tool } from "../tool.ts";

export const ruby: readonly Tool[] = [];
