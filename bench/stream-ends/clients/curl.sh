#!/bin/sh
# curl's own exit status and message, with the protocol that it agreed on.
for url in "$@"; do
  body=$(curl -sS -N --cacert "$SSL_CERT_FILE" -H 'content-type: application/json' -d '{"stream":true}' \
    -w '\nHTTP/%{http_version}' "$url/chat/completions" 2>"$TMPDIR/curl-message")
  status=$?
  has=$(printf %s "$body" | grep -q '"error":' && echo "one two ERROR" || echo "one two")
  version=$(printf %s "$body" | tail -n 1)
  ended=whole
  [ $status -eq 0 ] || ended="$(head -c 200 "$TMPDIR/curl-message" | tr -d '"\n')"
  printf '{"url":"%s","text":"%s","ended":"%s","note":"%s"}\n' "$url" "$has" "$ended" "$version"
done
