import { visitAnswerSchemas } from "./walk-schemas.mjs";

/** A list of values in an answer says that it may grow, so that nobody writes a client that fails on a new one. */
export const answerEnum = visitAnswerSchemas((schema, location, { report }) => {
  const isList = schema.enum?.length > 1;
  if (isList && schema["x-may-grow"] !== true)
    report({ message: "A list of values in an answer may grow, and has to say so with x-may-grow.", location });
});
