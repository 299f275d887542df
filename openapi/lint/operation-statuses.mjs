/** Every operation declares exactly the statuses that the configuration lists for it. */
export function operationStatuses({ statuses = {} }) {
  return {
    Operation(operation, { report, location }) {
      const wanted = statuses[operation.operationId]?.map(String);
      if (!wanted) {
        report({ message: `No statuses are listed for ${operation.operationId} in redocly.yaml.`, location });
        return;
      }
      const declared = Object.keys(operation.responses ?? {});
      for (const status of wanted)
        if (!declared.includes(status))
          report({ message: `${status} can occur and is not declared.`, location: location.child("responses") });
      for (const status of declared)
        if (!wanted.includes(status))
          report({
            message: `${status} cannot occur and is declared.`,
            location: location.child(["responses", status]),
          });
    },
  };
}
