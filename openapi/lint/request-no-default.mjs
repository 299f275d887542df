import { visitRequestSchemas } from "./walk-schemas.mjs";

/** No member of a request has a `default`: what an engine really runs with is stated in the record of its model. */
export const requestNoDefault = visitRequestSchemas((schema, location, { report }) => {
  if (schema.default === undefined) return;
  report({ message: "A request member must not have a default.", location: location.child("default") });
});
