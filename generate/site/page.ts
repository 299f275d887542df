/** Writes a page of the docs. The page is self-contained: it works offline and loads nothing. */
export const page = (title: string, body: string): string => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${title} · Parley</title>
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`;

const style =
  "body{font:16px/1.6 system-ui,sans-serif;max-width:46rem;margin:3rem auto;padding:0 1rem;color:#1a1f26;background:#fff}" +
  "code{font:0.9em ui-monospace,monospace;background:#f0f2f5;padding:.1em .3em;border-radius:4px}.title{font-size:1.2rem;color:#4a5563}" +
  "pre{background:#f0f2f5;padding:.8rem;border-radius:6px;overflow-x:auto;line-height:1.4}pre code{background:none;padding:0}" +
  "dt{font-weight:600;margin-top:1rem}dd{margin:0}td,th{text-align:left;padding:.3rem 1rem .3rem 0;vertical-align:top}" +
  "@media(prefers-color-scheme:dark){body{color:#e6e9ee;background:#14171c}code,pre{background:#262b33}.title{color:#a4adba}a{color:#8ab4ff}}";
