const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes text for the content and the attributes of HTML. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => entities[sign] ?? sign);

/** Escapes a name such as `invalid_value` or `ErrorCode`, and lets it break between its words. */
export const breakable = (name: string): string =>
  escapeHtml(name).replaceAll(/(?<=[a-z])(?=[A-Z])|(?<=\w_)/g, "<wbr>");

/** Returns the text of HTML without its tags, with entities decoded. */
export function textOf(html: string): string {
  const plain = html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/&(lt|gt|quot|#39);/g, (entity) => decoded[entity] ?? entity);
  return plain.replaceAll("&amp;", "&");
}

const decoded: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** Returns a fragment for a heading, as GitHub writes it: lower case, words joined by hyphens. */
export const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s+/g, "-");
