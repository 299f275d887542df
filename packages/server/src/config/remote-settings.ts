import { z } from "zod";
import { about, baseUrl, listOf, mapping, oneOf, path, text, yesOrNo } from "./value-kinds.ts";

/** The connection to a model on another server. */
export const remoteSchema = mapping({
  urls: about(
    listOf("addresses", baseUrl()),
    "addresses of the server; a conversation stays with one of them, and a host name of an http address may have several IP addresses",
  ),
  model: about(text("a name", /./), "its name on the other server; absent: its id here"),
  tokenizer: about(path(), "folder with its tokenizer and chat template; absent: `weights`"),
  protocol: about(
    oneOf("completions", "chat"),
    "completions: token ids to /v1/completions (the default); chat: messages to /v1/chat/completions",
  ),
  cache_salt: about(
    yesOrNo(),
    "whether requests contain `cache_salt`, which keeps the cached prompts of keys apart; absent: true, unless the protocol is chat and the service is not vLLM",
  ),
  api_key_env: about(
    text("the name of an environment variable", /^[A-Za-z_][A-Za-z0-9_]*$/),
    "environment variable with the bearer token for this upstream; without it and `api_key_file`: PARLEY_UPSTREAM_API_KEY",
  ),
  api_key_file: about(path(), "file with the bearer token for this upstream, read when the server starts"),
  headers: about(
    z.record(text("the name of a header", /^[A-Za-z0-9-]+$/), text("one line of text", /^[^\r\n]*$/), {
      error: "a mapping of names to texts",
    }),
    "headers of every request; {key}, {user} and {metadata.NAME} are replaced by the caller's values",
  ),
  ca_file: about(path(), "file with trusted certificates (PEM)"),
  proxy: about(baseUrl(), "address of a proxy to the server"),
});

/** The settings of one upstream in the file. */
export type RemoteSettings = z.output<typeof remoteSchema>;
