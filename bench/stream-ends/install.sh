#!/bin/sh
# Installs the clients into the folder TOOLS, and copies our own readers there: install.sh TOOLS
# Needs node, npm, python3, go, mvn and javac; on Debian nginx and haproxy (unpacked, not installed).
set -eu
tools=$(mkdir -p "$1" && cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
cp -r "$here/clients/." "$tools"

cd "$tools/node"
rm -rf parley-client && cp -r "$root/packages/client/src" parley-client
cp "$root/docs/readers/typescript/read-stream.ts" .
echo '{"type": "module", "private": true}' >package.json
npm install --silent --no-audit --no-fund openai@7.57.0 ai@7.0.173 @ai-sdk/openai-compatible@3.0.92 \
  @langchain/core@1.4.0 @langchain/openai@1.6.0 undici@8.12.4 openapi-fetch@0.17.0 eventsource-parser@3.1.1

cd "$tools/python"
cp "$root/docs/readers/python/read_stream.py" .
[ -d venv ] || python3 -m venv venv
venv/bin/pip install --quiet openai==3.57.0 'httpx[http2]==0.28.1' requests==2.34.2 aiohttp==3.14.5 'litellm[proxy]==1.108.7'

cd "$tools/go"
mkdir -p parley && cp "$root/docs/readers/go/read_stream.go" parley
[ -f go.mod ] || go mod init example.com/measured
go get github.com/sashabaranov/go-openai@v1.43.0 github.com/openai/openai-go/v3@v3.98.0
go build -o clients .

cd "$tools/java"
cp "$root/docs/readers/java/StreamReader.java" .
build() { # FOLDER ARTIFACT SOURCES…
  folder=$1 artifact=$2
  shift 2
  mkdir -p "$folder"
  IFS=: read -r group name version <<END
$artifact
END
  cat >"$folder/pom.xml" <<END
<project><modelVersion>4.0.0</modelVersion><groupId>m</groupId><artifactId>m</artifactId><version>1</version><dependencies>
<dependency><groupId>$group</groupId><artifactId>$name</artifactId><version>$version</version></dependency>
<dependency><groupId>com.google.code.gson</groupId><artifactId>gson</artifactId><version>2.13.2</version></dependency>
</dependencies></project>
END
  mvn -q -f "$folder/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=lib
  javac -cp "$folder/lib/*" -d "$folder/classes" Shared.java "$@"
}
build langchain4j-1.4.0 dev.langchain4j:langchain4j-open-ai:1.4.0 LangChain4j.java
build langchain4j-new dev.langchain4j:langchain4j-open-ai:1.19.0 LangChain4j.java
build openai-java com.openai:openai-java:4.101.0 OpenAIJava.java Jdk.java Reader.java StreamReader.java

mkdir -p "$tools/proxies" && cd "$tools/proxies"
for package in nginx haproxy liblua5.3-0 libopentracing-c-wrapper0 libopentracing1; do
  ls $package* >/dev/null 2>&1 || apt-get download -qq $package
done
for file in *.deb; do dpkg -x "$file" debian; done
[ -x caddy ] || GOBIN=$PWD go install github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9
