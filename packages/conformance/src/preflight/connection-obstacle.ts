import { connect as connectTls } from "node:tls";
import type { Answer } from "../wire/answer.ts";
import type { ConnectionFailure } from "../wire/exchange.ts";

const ownAuthority = "name the certificate of its authority with --ca FILE";

/** Certificates that are refused, by the code of OpenSSL or Node: the fault and the remedy. */
const certificateFaults: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "has expired: renew it (--ca does not help here)",
  CERT_NOT_YET_VALID: "is not valid yet: check the clocks, or renew it (--ca does not help here)",
  CERT_REVOKED: "was revoked: renew it",
  DEPTH_ZERO_SELF_SIGNED_CERT: "is self-signed: name it with --ca FILE to trust it",
  SELF_SIGNED_CERT_IN_CHAIN: `comes from an authority that this machine does not know: ${ownAuthority}`,
  UNABLE_TO_GET_ISSUER_CERT: `comes from an authority that this machine does not know: ${ownAuthority}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `comes from an authority that this machine does not know: ${ownAuthority}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `comes without its chain, or from an authority that this machine does not know: send the chain, or ${ownAuthority}`,
};

const handshakeFaults: readonly (readonly [code: RegExp, fault: string])[] = [
  [
    /CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE$/,
    "refuses the TLS handshake; it may ask for a client certificate, which the suite cannot send",
  ],
  [/NO_APPLICATION_PROTOCOL/, "does not offer HTTP/1.1 over TLS (ALPN): enable HTTP/1.1, which the suite speaks"],
  [/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/, "offers no version of TLS from 1.2 on: enable TLS 1.2 or 1.3"],
];

/** The first bytes of a TLS record with an alert. */
const tlsAlert = "\u0015\u0003";

/** Returns why there is no HTTP answer, in one sentence, or undefined if there is one. */
export async function connectionObstacle(answer: Answer, origin: URL): Promise<string | undefined> {
  const { exchange, status } = answer;
  const where = placeOf(origin);
  if (exchange.end === "unreachable") return whyUnreachable(exchange.failure ?? noFailure, origin);
  if (/plain HTTP request was sent to HTTPS port|HTTP request to an HTTPS server/i.test(answer.text))
    return speaksTls(origin);
  if (status !== undefined) return undefined;
  const first = exchange.received.map(({ bytes }) => bytes).join("");
  const asked = `${exchange.request.method} ${exchange.request.target}`;
  if (first === "" && exchange.end === "timeout")
    return `${where} accepts connections and sent nothing for ${seconds(exchange.endedMs)} after ${asked}: check that the service behind the port works (--timeout sets the wait).`;
  if (first.startsWith(tlsAlert)) return speaksTls(origin);
  if (first.startsWith("SSH-")) return `${where} is the port of an SSH server: give the port of the API in --base-url.`;
  if (first === "") return closedSentence(answer, origin, asked);
  if (first.startsWith("HTTP/"))
    return `${where} began an answer to ${asked} and did not finish its head (${exchange.end} after ${seconds(exchange.endedMs)}): check the service.`;
  return `${where} does not answer in HTTP/1.1 (its answer begins with ${printable(first)}): give the port of the API in --base-url.`;
}

const noFailure: ConnectionFailure = { code: "UNKNOWN", message: "no connection" };

/** An IPv6 address keeps its brackets. */
const placeOf = (origin: URL): string =>
  `${origin.hostname}:${origin.port || (origin.protocol === "https:" ? "443" : "80")}`;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
const printable = (text: string): string => JSON.stringify(text.slice(0, 40));
const speaksTls = (origin: URL): string =>
  `${placeOf(origin)} speaks TLS, and --base-url begins with http://: write https://${origin.host}.`;

async function closedSentence({ exchange }: Answer, origin: URL, asked: string): Promise<string> {
  const { code } = exchange.failure ?? noFailure;
  const handshake = handshakeFaults.find(([pattern]) => pattern.test(code));
  if (handshake) return `${placeOf(origin)} ${handshake[1]}.`;
  if (origin.protocol === "http:" && (await hasTls(origin))) return speaksTls(origin);
  return `${placeOf(origin)} closes the connection without an answer to ${asked}: check the port in --base-url, and the log of the service.`;
}

function whyUnreachable({ code, message, names }: ConnectionFailure, origin: URL): string {
  const where = placeOf(origin);
  const certificate = certificateFaults[code];
  if (certificate !== undefined) return `The certificate of ${where} ${certificate}.`;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return wrongHost(origin, names);
  const handshake = handshakeFaults.find(([pattern]) => pattern.test(code));
  if (handshake) return `${where} ${handshake[1]}.`;
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|^EPROTO$/.test(code))
    return `${where} does not speak TLS, and --base-url begins with https://: write http://${origin.host}, or give the port with TLS.`;
  if (origin.protocol === "https:" && ["ECONNRESET", "CLOSED"].includes(code))
    return `${where} closes the connection during the TLS handshake: check the port, or write http:// if it has no TLS.`;
  if (code.startsWith("ERR_SSL_")) return `The TLS handshake with ${where} failed (${code}): check its TLS settings.`;
  return `${networkFault(code, message, origin)}${proxyNote()}.`;
}

function networkFault(code: string, message: string, origin: URL): string {
  const where = placeOf(origin);
  switch (code) {
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `The host name ${origin.hostname} cannot be resolved (DNS): check its spelling in --base-url, and the network`;
    case "ECONNREFUSED":
      return `Nothing listens on ${where} (connection refused): start the service, or correct host and port in --base-url`;
    case "ETIMEDOUT":
      return `${where} did not accept a connection in time: check host, port and firewall`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `There is no route to ${where}: check the network, and host and port in --base-url`;
    default:
      return `No connection to ${where} (${code}: ${message}): check host and port in --base-url`;
  }
}

function wrongHost(origin: URL, names = "another host"): string {
  const valid = names.replaceAll(/DNS:|IP Address:/g, "");
  return `The certificate of ${placeOf(origin)} is for ${valid}, not for ${origin.hostname}: write that name into --base-url, or correct the certificate (--ca does not help here).`;
}

const proxyVariables = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

function proxyNote(): string {
  const name = proxyVariables.find((one) => (process.env[one] ?? "") !== "");
  return name === undefined
    ? ""
    : ` (${name} is set, but the suite connects directly: run it where the host can be reached without a proxy)`;
}

/** Returns whether the port takes part in a TLS handshake. No request is sent. */
async function hasTls({ hostname, port }: URL): Promise<boolean> {
  const host = hostname.replaceAll(/^\[|\]$/g, "");
  const socket = connectTls({ host, port: Number(port || 80), rejectUnauthorized: false });
  const result = await new Promise<boolean>((resolve) => {
    socket.setTimeout(3000, () => resolve(false));
    socket
      .once("secureConnect", () => resolve(true))
      .once("error", () => resolve(false))
      .once("close", () => resolve(false));
  });
  socket.destroy();
  return result;
}
