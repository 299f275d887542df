import type { Tool } from "../tool.ts";
import { openLists, openListsRemark } from "./open-lists.ts";
import { openapiGenerator } from "./openapi-generator.ts";

const { version } = openapiGenerator;
const mvn = "mvn -q -B -Dopenapi-generator.version=$VERSION";

/** Java and Kotlin. */
export const jvm: readonly Tool[] = [
  {
    name: "openapi-generator-java-native",
    title: "openapi-generator, java with native",
    version,
    language: "Java",
    document: "openapi.json",
    needs: ["java", "mvn"],
    generate: [`${mvn} generate-sources`],
    compile: [`${mvn} compile dependency:copy-dependencies`],
    run: "java -cp 'target/classes:target/dependency/*' partner.Main",
    remarks:
      "It compiles with `-Xlint:all -Werror`, except for deprecated methods and for serial numbers that the tool leaves out. It needs `generateAliasAsModel`: a union with an array in it compiles only where the array has a class. The program sends a stream's request itself, since the client reads whole answers.",
  },
  {
    name: "openapi-generator-java-okhttp",
    title: "openapi-generator, java with okhttp-gson, okhttp-sse",
    version,
    language: "Java",
    document: "openapi.json",
    needs: ["java", "mvn"],
    generate: [`${mvn} generate-sources`],
    compile: [`${mvn} compile dependency:copy-dependencies`],
    run: "java -cp 'target/classes:target/dependency/*' partner.Main",
    remarks:
      "It compiles with `-Xlint:all -Werror`, except for the raw types that the tool generates. It needs okhttp 5 to read a stream in place.",
  },
  {
    name: "openapi-generator-kotlin",
    title: "openapi-generator, kotlin with kotlinx.serialization, okhttp-sse",
    version,
    language: "Kotlin",
    document: "openapi.json",
    needs: ["jq", "java", "mvn"],
    generate: [openLists, `${mvn} generate-sources`],
    compile: [`${mvn} compile dependency:copy-dependencies`],
    run: "java -cp 'target/classes:target/dependency/*' partner.MainKt",
    remarks: `It compiles with \`-Werror\`. It needs \`generateOneOfAnyOfWrappers\`, so that a union is a sealed interface, and types for any value and for decimals (its \`pom.xml\`). The program sends a stream's request itself, since the client reads whole answers. ${openListsRemark}`,
  },
];
