import type { Answer } from "../wire/answer.ts";

/** A value of X-Client-Request-Id: printable ASCII, as long as it may be. */
export const clientId = `conformance ~!"#$%&'()*+,-./ 4711 ${"x".repeat(512)}`.slice(0, 512);

/** An origin that the deployment allows; any, unless the profile names one. */
export const originOf = (profile: { readonly allowedOrigin?: string }): string =>
  profile.allowedOrigin ?? "https://conformance.example";

/** A header that was sent with the request. */
export const sentHeader = (answer: Answer, name: string): string | undefined =>
  answer.exchange.request.headers.find(([one]) => one.toLowerCase() === name)?.[1];
