import type { Tool } from "../tool.ts";
import { openLists, openListsRemark } from "./open-lists.ts";
import { openapiGenerator } from "./openapi-generator.ts";

const mvn = "mvn -q -B -Dopenapi-generator.version=$VERSION";

export const kotlin: readonly Tool[] = [
  {
    name: "openapi-generator-kotlin",
    title: "openapi-generator, kotlin with kotlinx.serialization, okhttp-sse",
    version: openapiGenerator.version,
    language: "Kotlin",
    document: "openapi.json",
    needs: ["jq", "java", "mvn"],
    generate: [openLists, `${mvn} generate-sources`],
    compile: [`${mvn} compile dependency:copy-dependencies`],
    run: "java -cp 'target/classes:target/dependency/*' partner.MainKt",
    remarks: `\`-Werror\`. Needs \`generateOneOfAnyOfWrappers\`, so that a union is a sealed interface, and types for any value and for decimals (its \`pom.xml\`). The program sends a stream's request itself, since the client reads whole answers. ${openListsRemark}`,
  },
];
