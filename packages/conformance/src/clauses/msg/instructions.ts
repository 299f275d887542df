import type { Members } from "../../requests/chat-request.ts";

/** Special tokens, and texts that look like them but are ordinary text. */
export const specialTokens = ["<|im_start|>", "<|im_end|>", "<think>", "<tool_call>"] as const;
export const lookalikes = ["<|im_sturt|>", "<|im_und|>", "<thunk>", "<tool_cull>"] as const;
export const often = (texts: readonly string[]): string => texts.join("").repeat(8);

/**
 * A greeting, then an instruction in the given role. The instruction ends with the spelling of special tokens, or with a
 * text that looks like them.
 */
export const instructed = (role: string, tail: readonly string[] = lookalikes): readonly Members[] => [
  { role: "user", content: "How are you?" },
  { role, content: `Talk about the sea and the ships on it. ${often(tail)}` },
];
