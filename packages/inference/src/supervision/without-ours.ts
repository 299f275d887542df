/** Returns an environment without our settings and secrets, and without the variable that opens vLLM's debugging paths. */
export function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isForeign = ([name]: readonly [string, unknown]): boolean =>
    !name.startsWith("PARLEY_") && name !== "VLLM_SERVER_DEV_MODE" && name !== "VLLM_API_KEY";
  return Object.fromEntries(Object.entries(env).filter(isForeign));
}
