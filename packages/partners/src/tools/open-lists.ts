/**
 * Removes the enums that may grow, and the values of `object`, from the document. It is for tools whose clients reject an
 * answer with an unknown value.
 */
export const openLists =
  "jq 'del(.. | objects | select(.\"x-may-grow\").enum, (.object? | objects).enum)' openapi.json > open.json && mv open.json openapi.json";

/** The remark for such a tool. */
export const openListsRemark =
  "Its client refuses values that it does not know: the first command takes the lists that may grow out of the document.";
