import { textAt } from "../judge/read.ts";
import type { Answer } from "../wire/answer.ts";

/** The operation that was asked for. */
export const asked = ({ exchange: { request } }: Answer): string => `${request.method} ${request.target}`;

/** The status, and the message of the answer if it has one. */
export function said(answer: Answer): string {
  const text = messageOf(answer).replaceAll(/\s+/g, " ").trim();
  const short = text.length > 160 ? `${text.slice(0, 160)}…` : text;
  return short === "" ? String(answer.status) : `${answer.status} "${short}"`;
}

export function messageOf(answer: Answer): string {
  if (isHtml(answer)) return /<title>([^<]*)/i.exec(answer.text)?.[1] ?? "an HTML page";
  const places = ["/error/message", "/message", "/detail", "/error", "/error_description"];
  return places.flatMap((one) => textAt(answer.json, one) ?? [])[0] ?? answer.text;
}

export const isHtml = (answer: Answer): boolean =>
  answer.mediaType === "text/html" || /^\s*<(?:!doctype|html)/i.test(answer.text);
