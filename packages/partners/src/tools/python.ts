import type { Tool } from "../tool.ts";
import { openapiGenerator } from "./openapi-generator.ts";
import { openLists, openListsRemark } from "./open-lists.ts";

const pip = "python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check -r requirements.txt";
const mypy = "venv/bin/mypy --strict main.py";

export const python: readonly Tool[] = [
  {
    name: "openapi-python-client",
    title: "openapi-python-client, httpx-sse",
    version: "0.29.1",
    language: "Python",
    document: "openapi.json",
    needs: ["python3", "jq"],
    generate: [
      openLists,
      pip,
      "venv/bin/openapi-python-client generate --path openapi.json --meta none --output-path parley",
    ],
    compile: [mypy],
    run: "venv/bin/python main.py",
    remarks: `\`mypy --strict\` passes, except for one redundant cast that the tool generates. ${openListsRemark}`,
  },
  {
    name: "datamodel-code-generator",
    title: "datamodel-code-generator, httpx, httpx-sse",
    version: "0.89.0",
    language: "Python",
    document: "openapi.json",
    needs: ["python3", "jq"],
    generate: [
      openLists,
      pip,
      "venv/bin/datamodel-codegen --input openapi.json --input-file-type openapi --output models.py --output-model-type pydantic_v2.BaseModel --target-python-version 3.11 --use-annotated --collapse-root-models --formatters builtin",
    ],
    compile: [mypy],
    run: "venv/bin/python main.py",
    remarks: `\`mypy --strict\` passes. The tool makes types only; httpx makes the requests. ${openListsRemark}`,
  },
  {
    name: "openapi-generator-python",
    title: "openapi-generator, python, httpx-sse",
    version: openapiGenerator.version,
    language: "Python",
    document: "openapi.json",
    needs: ["python3", "jq", "java", "mvn"],
    generate: [
      openLists,
      pip,
      openapiGenerator.download,
      "java -jar openapi-generator-cli.jar generate -g python -i openapi.json -o generated --additional-properties=packageName=parley",
      "mv generated/parley .",
    ],
    compile: [mypy],
    run: "venv/bin/python main.py",
    remarks: `The program passes \`mypy --strict\`; the generated client has functions without types. The program sends a stream's request with httpx. ${openListsRemark}`,
  },
];
