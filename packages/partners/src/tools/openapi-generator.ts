/** OpenAPI Generator: one program with generators for most languages. */
export const openapiGenerator = {
  version: "7.23.0",
  /** Leaves `openapi-generator-cli.jar` in the folder. */
  download:
    "mvn -q dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:$VERSION -DoutputDirectory=. -Dmdep.stripVersion=true",
} as const;
