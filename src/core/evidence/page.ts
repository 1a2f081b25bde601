/** A page that checks a pack in a browser, without Stemma and without a network. `script` is docs/verify-evidence.mjs. */
export const pageWith = (script: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>Check evidence</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.good { color: #1d7044; } .bad { color: #bd2c37; }
@media (prefers-color-scheme: dark) { .good { color: #6cc78e; } .bad { color: #f2828a; } }
</style>
<h1>Check evidence</h1>
<p>Choose the pack. Your browser checks it here and sends nothing.</p>
<p><input type="file" aria-label="Pack of evidence"></p>
<h2 id="result" aria-live="polite"></h2>
<pre id="details"></pre>
<script type="module">
${script.replaceAll(/<(?=\/script|!--)/gi, '\\x3c')}
document.querySelector('input').addEventListener('change', async ({ target }) => {
  const [file] = target.files;
  if (!file) return;
  const { ok, digest, signature, problems } = await verify(new Uint8Array(await file.arrayBuffer()));
  const result = document.querySelector('#result');
  result.textContent = ok ? 'Everything holds.' : 'This pack was changed.';
  result.className = ok ? 'good' : 'bad';
  document.querySelector('#details').textContent = [
    'Merkle root: ' + (digest ?? 'not readable'),
    'Signature: ' + (signature ? (signature.valid ? 'valid, by the key ' : 'NOT valid, key ') + signature.publicKey : 'none'),
    ...problems.map(({ path, message }) => path + ' ' + message),
  ].join('\\n');
});
</script>
</html>
`;
