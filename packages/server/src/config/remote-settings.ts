import { fronts } from "@parley/inference/fronts";
import { z } from "zod";
import { about, baseUrl, listOf, mapping, oneOf, path, text, yesOrNo } from "./value-kinds.ts";

const frontNames = Object.keys(fronts) as (keyof typeof fronts)[]; // an object has its keys

const headerName = text("the name of a header", /^[A-Za-z0-9-]+$/);

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
    z.record(headerName, text("one line of the characters that a header may have", /^[\t\x20-\x7e\x80-\xff]*$/), {
      error: "a mapping of names to texts",
    }),
    "headers of every request; {key}, {user}, {weight}, {request}, {trace}, {session} and {metadata.NAME} are replaced by the caller's values",
  ),
  front: about(
    oneOf(...frontNames),
    "service at these addresses that spreads requests over several engines: it decides which headers are sent and what refusals mean; absent: generic, which gets only `headers`",
  ),
  session_header: about(
    headerName,
    "header for the session id, a keyed hash that is the same for all turns of a conversation; absent: the one that `front` reads by default",
  ),
  session_member: about(
    text("a name", /./),
    "member of `metadata` that names the conversation in requests without `prompt_cache_key`; absent: session; without either, the first message decides",
  ),
  ca_file: about(path(), "file with trusted certificates (PEM)"),
  proxy: about(baseUrl(), "address of a proxy to the server"),
});

/** The settings of one upstream in the file. */
export type RemoteSettings = z.output<typeof remoteSchema>;
