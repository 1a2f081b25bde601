import { createHash } from 'node:crypto';
import { type Answer, contentSecurityPolicy, plain, securityHeaders } from '../window/index.js';

/** Why somebody whom the host does not know is turned away. */
export type Unknown = 'used link' | 'other link' | 'no link';

/** What happened, and what to do about it. */
const words: Readonly<Record<Unknown, { readonly title: string; readonly why: string; readonly next: string }>> = {
  'used link': {
    title: 'This link was used already',
    why: 'The link that Stemma prints opens once. The browser that opened it is known until Stemma ends, and needs no link any more.',
    next: 'To come in from here, end Stemma in its terminal with Ctrl+C and start it again: it prints a new link. Nothing that is stored is lost by that.',
  },
  'other link': {
    title: 'This link is of another start',
    why: 'Each time that Stemma starts it prints a link of its own. This one was printed earlier, or a piece of it is missing.',
    next: 'Open the link that stands last in the terminal that Stemma runs in.',
  },
  'no link': {
    title: 'Stemma does not know this browser',
    why: 'It shows what it keeps only to the browser that opened the link which it printed when it started.',
    next: 'Open the link that stands in the terminal that Stemma runs in. Where that one was used already, or Stemma was started again since, start it again for a new one.',
  },
};

/** The colors of the window, which is not loaded before one is known (src/renderer/app/tokens.css). */
const style = `
:root { color-scheme: light dark; --ground: #ffffff; --text: #1b1c20; --muted: #5d6069; --line: #e4e4e8 }
@media (prefers-color-scheme: dark) {
  :root { --ground: #141518; --text: #e3e4e8; --muted: #a2a5af; --line: #292b31 }
}
body { margin: 0; background: var(--ground); color: var(--text); font: 14px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "Liberation Sans", sans-serif }
main { max-width: 30em; margin: 18vh auto 0; padding: 0 24px }
header { padding-bottom: 12px; border-bottom: 1px solid var(--line); font-weight: 650 }
h1 { margin: 20px 0 8px; font-size: 18px; font-weight: 600 }
p { margin: 0 0 12px }
.why { color: var(--muted) }
`;
const styleHash = createHash('sha256').update(style).digest('base64');

/** A page for a person at a browser: it needs no script, and no file that only the known may have. */
const page = ({ title, why, next }: (typeof words)[Unknown]): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Stemma</title>
<link rel="icon" href="data:,">
<style>${style}</style>
<main>
<header>Stemma</header>
<h1>${title}</h1>
<p class="why">${why}</p>
<p>${next}</p>
</main>
`;

/** The answer to who is not known: a page for browsers, words for everything else. */
export function turnAway(why: Unknown, accept: string | undefined): Answer {
  const said = words[why];
  if (!accept?.includes('text/html')) return plain(401, `${said.title}. ${said.next} Scripts send its token as a bearer.`);
  const policy = contentSecurityPolicy.replace("style-src 'self'", `style-src 'sha256-${styleHash}'`);
  return {
    status: 401,
    headers: { ...securityHeaders, 'content-security-policy': policy, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
    body: new TextEncoder().encode(page(said)),
  };
}
