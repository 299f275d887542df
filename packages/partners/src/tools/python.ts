import type { Tool } from "../tool.ts";
import { openapiGenerator } from "./openapi-generator.ts";

const pip = "python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check -r requirements.txt";
const mypy = "venv/bin/mypy --strict main.py";

export const python: readonly Tool[] = [
  {
    name: "openapi-python-client",
    title: "openapi-python-client, httpx-sse",
    version: "0.29.1",
    language: "Python",
    document: "openapi.json",
    needs: ["python3"],
    generate: [pip, "venv/bin/openapi-python-client generate --path openapi.json --meta none --output-path parley"],
    compile: [mypy],
    run: "venv/bin/python main.py",
    remarks:
      "`mypy --strict`, but for one redundant cast that the tool generates. Its client refuses new values: take `enum` out of the document where `x-may-grow` stands, as `prepare` of ogen does.",
  },
  {
    name: "datamodel-code-generator",
    title: "datamodel-code-generator, httpx, httpx-sse",
    version: "0.89.0",
    language: "Python",
    document: "openapi.json",
    needs: ["python3"],
    generate: [
      pip,
      "venv/bin/datamodel-codegen --input openapi.json --input-file-type openapi --output models.py --output-model-type pydantic_v2.BaseModel --target-python-version 3.11 --use-annotated --formatters builtin",
    ],
    compile: [mypy],
    run: "venv/bin/python main.py",
    remarks:
      "`mypy --strict`. The tool makes types only; httpx makes the requests. Its models refuse new values: take `enum` out of the document where `x-may-grow` stands, as `prepare` of ogen does.",
  },
  {
    name: "openapi-generator-python",
    title: "openapi-generator, python, httpx-sse",
    version: openapiGenerator.version,
    language: "Python",
    document: "openapi.json",
    needs: ["python3", "java", "mvn"],
    generate: [
      pip,
      openapiGenerator.download,
      "java -jar openapi-generator-cli.jar generate -g python -i openapi.json -o generated --additional-properties=packageName=parley",
      "mv generated/parley .",
    ],
    compile: [mypy],
    run: "venv/bin/python main.py",
    remarks:
      "`mypy --strict` of the program; the generated client has functions without types. The program sends a stream's request with httpx. Its client refuses new values: take `enum` out of the document where `x-may-grow` stands, as `prepare` of ogen does.",
  },
];
