/** A path in the format of `error.param`: `messages[2].content[0].text`. */
export type Path = string;

export const fieldPath = (parent: Path, name: string): Path => (parent === "" ? name : `${parent}.${name}`);

export const itemPath = (parent: Path, index: number): Path => `${parent}[${index}]`;
