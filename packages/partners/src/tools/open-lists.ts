/**
 * Takes the lists of values that may grow out of the document, and the values of `object`: for tools whose clients refuse
 * an answer with a value that they do not know.
 */
export const openLists =
  "jq 'del(.. | objects | select(.\"x-may-grow\").enum, (.object? | objects).enum)' openapi.json > open.json && mv open.json openapi.json";

/** What the remarks of such a tool say. */
export const openListsRemark =
  "Its client refuses values that it does not know: the first command takes the lists that may grow out of the document.";
