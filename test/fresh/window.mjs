/** Opens the link of a started Stemma as a browser does, and exits with 1 unless the window comes: `node window.mjs LINK`. */
const link = process.argv[2] ?? '';
const signedIn = await fetch(link, { redirect: 'manual' });
const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
const page = await fetch(new URL('/', link), { headers: { cookie } });
const text = await page.text();
if (signedIn.status !== 303 || !page.ok || !text.includes('<script')) {
  console.error(`The link answered ${signedIn.status} and the window ${page.status}: ${text.slice(0, 500)}`);
  process.exitCode = 1;
}
