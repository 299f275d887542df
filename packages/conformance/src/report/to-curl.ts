import type { RunProfile } from "../profile.ts";
import { unknownKey } from "../requests/keys.ts";
import type { Exchange } from "../wire/exchange.ts";
import type { HttpRequest } from "../wire/http-request.ts";

/** The things that a command needs besides its request. */
export interface Shell {
  /** The environment variable that holds the key. */
  readonly keyVariable: string;
  /** The folder of the reports, in which long bodies are. Absent: no report is written. */
  readonly folder?: string | undefined;
  /** The file with certificates to trust. */
  readonly ca?: string | undefined;
}

/** A longer body is a file beside the report. */
const maxInlineLength = 1500;

/**
 * A shell command that sends a request again, for `sh`. Keys and the caller's own headers come from environment variables,
 * which `variablesOf` lists.
 *
 * @param name the name of the exchange, which names the file of a long body
 */
export function toCurl(request: HttpRequest, name: string, profile: RunProfile, shell: Shell): string {
  const word = (text: string): string => toWord(text, profile, shell);
  const file = bodyOf(request) === undefined ? undefined : pathOf(name, shell);
  if (request.raw !== undefined) return rawCommand(request.raw, file, profile, shell);
  const { headers, behaviour = {} } = request;
  const has = (wanted: string): boolean => headers.some(([one]) => one.toLowerCase() === wanted);
  const isPlainPath = request.target.startsWith("/") && !/[#\s]|\.\//.test(request.target);
  const words = [
    "curl -sS -N -i -g",
    ...(shell.ca === undefined ? [] : ["--cacert", quote(shell.ca)]),
    ...(behaviour.disconnectAfterMs === undefined ? [] : ["--max-time", String(behaviour.disconnectAfterMs / 1000)]),
    request.method === "HEAD" ? "-I" : `-X ${quoteIfNeeded(request.method)}`,
    ...(isPlainPath ? [] : ["--request-target", word(request.target)]),
    word(profile.origin + (isPlainPath ? request.target : "/")),
    ...headers.flatMap(([one, value]) => ["-H", word(value === "" ? `${one};` : `${one}: ${value}`)]),
    // Otherwise curl adds headers of its own.
    ...(hasBody(request) && !has("content-type") ? ["-H", "'Content-Type:'"] : []),
    ...(file === undefined || has("expect") ? [] : ["-H", "'Expect:'"]),
    ...(file === undefined ? inlineBody(request) : ["--data-binary", `@${file}`]),
  ];
  const prefix =
    file !== undefined || request.bodyBase64 === undefined ? "" : `echo ${request.bodyBase64} | base64 -d | `;
  return prefix + words.join(" ");
}

/** The body of a request that is too long for its command; undefined if it is short. */
export function bodyOf({ raw, body, bodyBase64 }: HttpRequest): Buffer | undefined {
  const bytes =
    raw !== undefined
      ? Buffer.from(raw, "latin1")
      : bodyBase64 === undefined
        ? Buffer.from(body ?? "")
        : Buffer.from(bodyBase64, "base64");
  return bytes.length > maxInlineLength ? bytes : undefined;
}

/** The file of a long body, relative to the folder of the reports. */
export const bodyFile = (name: string): string =>
  `bodies/${name.replaceAll(/[^A-Za-z0-9]+/g, "-").replaceAll(/^-|-$/g, "")}.txt`;

/** The environment variables that the commands of these exchanges read, with what each has to hold. */
export function variablesOf(
  exchanges: readonly Exchange[],
  profile: RunProfile,
  shell: Shell,
): ReadonlyMap<string, string> {
  const names = new Set(
    exchanges.flatMap(({ request }) =>
      [...`${request.target} ${request.raw ?? ""} ${request.headers.flat().join(" ")}`.matchAll(placeholder)].map(
        ([, one = ""]) => one,
      ),
    ),
  );
  const all = [...names].flatMap((one): (readonly [string, string])[] => {
    const variable = variableOf(one, profile, shell);
    const header = headerOf(one, profile);
    return variable === undefined
      ? []
      : [[variable, header === undefined ? keyMeaning(one) : `the value of the header ${header}`]];
  });
  return new Map(all);
}

const keyMeaning = (name: string): string =>
  name === "key" ? "the key of --api-key-env" : `the key that is \`${name}\` in the conformance profile`;

const placeholder = /\{([a-z_]+)\}/g;

const headerOf = (name: string, { extraHeaders }: RunProfile): string | undefined =>
  extraHeaders.find(([, value]) => value === `{${name}}`)?.[0];

/** Returns the environment variable that stands for a credential; undefined if the name is not that of a credential. */
function variableOf(name: string, profile: RunProfile, { keyVariable }: Shell): string | undefined {
  if (name === "key") return keyVariable;
  const role = profile.keyRoles.find((one) => one === name);
  if (role !== undefined) return profile.keys?.[role]?.env ?? `${role.toUpperCase()}_KEY`;
  return headerOf(name, profile)
    ?.toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, "_");
}

/** Returns the variable for a placeholder such as `{key}`; undefined for other text. */
const variableIn = (text: string, profile: RunProfile, shell: Shell): string | undefined =>
  /^\{[a-z_]+\}$/.test(text) ? variableOf(text.slice(1, -1), profile, shell) : undefined;

/** A word of a shell: in single quotes, with credentials as variables and other bytes than ASCII written by printf. */
function toWord(text: string, profile: RunProfile, shell: Shell): string {
  const parts = text.split(/(\{[a-z_]+\}|[^\x20-\x7e]+)/);
  const words = parts.map((part) => {
    if (part === "{unknown}") return unknownKey;
    const variable = variableIn(part, profile, shell);
    if (variable !== undefined) return `'"$${variable}"'`;
    return /^[^\x20-\x7e]+$/.test(part) && part !== ""
      ? `'"$(printf '${toOctal(part)}')"'`
      : part.replaceAll("'", String.raw`'\''`);
  });
  const word = `'${words.join("")}'`.replaceAll(/^''|''$/g, "");
  return word === "" ? "''" : word;
}

const toOctal = (text: string): string =>
  [...Buffer.from(text, "latin1")].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const quoteIfNeeded = (text: string): string => (/^[A-Za-z]+$/.test(text) ? text : quote(text));

const hasBody = ({ body, bodyBase64 }: HttpRequest): boolean => body !== undefined || bodyBase64 !== undefined;

function inlineBody({ body, bodyBase64 }: HttpRequest): readonly string[] {
  if (bodyBase64 !== undefined) return ["--data-binary", "@-"];
  return body === undefined ? [] : ["--data-raw", quote(body)];
}

/** REPORT names the folder of the reports, where it was moved. */
const pathOf = (name: string, { folder = "." }: Shell): string =>
  `"\${REPORT:-${folder.replaceAll(/["\\$`}]/g, String.raw`\$&`)}}/${bodyFile(name)}"`;

/** Bytes that are not an HTTP request: curl sends them as they are over TCP, and OpenSSL over TLS. */
function rawCommand(raw: string, file: string | undefined, profile: RunProfile, shell: Shell): string {
  const { protocol, hostname, port } = new URL(profile.origin);
  const isTls = protocol === "https:";
  const address = `${hostname}:${port || (isTls ? 443 : 80)}`;
  const bytes = file === undefined ? printed(raw, profile, shell) : filled(raw, file, profile, shell);
  return `${bytes} | ${isTls ? `openssl s_client -quiet -connect ${address}` : `curl -sS --max-time 5 telnet://${address}`}`;
}

/** The bytes as the format of printf. */
function printed(raw: string, profile: RunProfile, shell: Shell): string {
  const variables: string[] = [];
  const format = raw.split(/(\{[a-z_]+\})/).map((part) => {
    const variable = variableIn(part, profile, shell);
    if (variable === undefined) return toFormat(part);
    variables.push(` "$${variable}"`);
    return "%s";
  });
  return `printf '${format.join("")}'${variables.join("")}`;
}

/** The bytes from a file, with the credentials in their places. */
function filled(raw: string, file: string, profile: RunProfile, shell: Shell): string {
  const names = new Set(raw.match(placeholder));
  const edits = [...names].flatMap((name) => {
    const variable = variableIn(name, profile, shell);
    return variable === undefined ? [] : [`-e "s|${name}|$${variable}|g"`];
  });
  return edits.length === 0 ? `cat ${file}` : `sed ${edits.join(" ")} ${file}`;
}

const toFormat = (text: string): string =>
  text
    .replaceAll("\\", String.raw`\\`)
    .replaceAll("%", "%%")
    .replaceAll("\r", String.raw`\r`)
    .replaceAll("\n", String.raw`\n`)
    .replaceAll(/[^\x20-\x7e]/g, toOctal)
    .replaceAll("'", String.raw`'\''`);
