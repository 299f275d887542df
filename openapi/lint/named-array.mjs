import { typesOf } from "./walk-schemas.mjs";

/**
 * An array has a name as a branch of a union, and nowhere else. Java's generator makes a class of a named array: in a
 * union its code needs one, and for a required member it fills the class with a plain list, which does not compile.
 */
export function namedArray() {
  const named = new Map();
  const branches = new Set();
  return {
    Components({ schemas = {} }, { resolve }) {
      for (const schema of Object.values(schemas)) {
        const { node, location } = resolve(schema);
        if (node && typesOf(node).includes("array")) named.set(node, location);
      }
    },
    Schema(schema, { resolve }) {
      for (const branch of schema.oneOf ?? []) branches.add(resolve(branch).node);
    },
    Root: {
      leave(_root, { report }) {
        for (const [schema, location] of named)
          if (!branches.has(schema))
            report({ message: "This array is not a branch of a union: write it in place.", location });
      },
    },
  };
}
