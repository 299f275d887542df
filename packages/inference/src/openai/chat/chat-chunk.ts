/** The members that are read of an event of a chat route's stream. Any of them may be missing. */
export interface ChatChunk {
  readonly error?: unknown;
  readonly object?: string;
  readonly choices?: readonly ChunkChoice[];
  readonly usage?: ChunkUsage | null;
}

export interface ChunkChoice {
  readonly delta?: {
    readonly content?: string | null;
    readonly reasoning?: string | null;
    readonly reasoning_content?: string | null;
    readonly tool_calls?: readonly ChunkCall[] | null;
  };
  readonly finish_reason?: string | null;
  readonly logprobs?: { readonly content?: readonly ChunkLogprob[] | null } | null;
}

export interface ChunkCall {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null };
}

export interface ChunkLogprob {
  readonly token: string;
  readonly bytes?: readonly number[] | null;
  readonly logprob: number;
  readonly top_logprobs?: readonly ChunkLogprob[] | null;
}

export interface ChunkUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number | null } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
}
