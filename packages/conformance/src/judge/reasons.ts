/** Why a chapter of the contract matters to a caller. */
export const reasons: Readonly<Record<string, string>> = {
  HTTP: "proxies, browsers and HTTP libraries act on methods, statuses, media types and headers before any SDK sees a body; what is answered in another way there becomes a retry, a hang or an error that names nothing.",
  AUTH: "a caller has to see at once, and always in the same way, that a key is wrong; and nobody else may learn anything about it.",
  MODL: "programs choose models, count costs and size their prompts by the listing; what it says has to hold.",
  REQ: "a member that is misread, converted or ignored in silence gives an answer to another question than the one that was asked, and nobody notices.",
  MSG: "a conversation has to reach the model exactly as it was sent, or be refused at the exact place that is wrong.",
  RESP: "callers bill, store and branch on these members; one that is missing or wrong breaks them without an error.",
  SAMP: "tests, caches and evaluations rest on repeatable text, and on stops, bans and caps that hold.",
  STRM: "a reader of a stream can tell a whole answer from a broken one only by the order of its events; a missing end, a changed id or a late role makes SDKs hang, show half an answer as a whole one, or mix answers up.",
  TOOL: "arguments of calls are run by programs: a call that is cut, doubled or not valid is an accident.",
  FMT: "structured output is parsed without a person looking at it; where the form is not held, a parser fails at the caller's.",
  LOGP: "log-probabilities are joined with the text byte by byte; an entry that is missing or late shifts all that follow.",
  ERR: "a client decides by status, type and code whether to correct, to wait or to give up; without them it retries what cannot work and gives up what could.",
  LIM: "a client that is told exactly how long to wait comes back in time, and does not come back in between.",
  OPS: "engines fail; a caller must see a failure as a failure, soon, and not pay for it.",
};
