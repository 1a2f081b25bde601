import { createHash } from 'node:crypto';
import { answerWith, contentSecurityPolicy, type FileAnswer, plain } from '../window/index.js';
import type { CodeState } from './link.js';

/** Why a browser sees the sign-in page: its link is invalid, it has no link, or it requested a new link. */
export type SignInReason = Exclude<CodeState, 'current'> | 'no link' | 'printed';

/** The title of the page, and why the browser sees it. */
type Words = readonly [title: string, why: string];

const words: Readonly<Record<SignInReason, Words>> = {
  used: ['This link was already used', 'A link works once. The browser that opened it stays signed in until Stemma stops.'],
  expired: ['This link has expired', 'A link works for 15 minutes after Stemma prints it, and only until Stemma prints another one.'],
  unknown: ['This link is not valid', 'It comes from an earlier start of Stemma, or a part of it is missing.'],
  'no link': ['This browser is not signed in', 'Stemma shows your histories only to a browser that opened the link from its terminal.'],
  printed: ['Look at the terminal', 'The terminal that runs Stemma shows a link that works.'],
};

const advice = 'Open the newest link in the terminal that runs Stemma.';

/** The window's colors (src/renderer/app/tokens.css), because its style sheet is only for browsers that are signed in. */
const style = `
:root { color-scheme: light dark; --ground: #ffffff; --text: #1b1c20; --muted: #5d6069; --line: #e4e4e8; --accent: #4f52cf; --accent-text: #ffffff }
@media (prefers-color-scheme: dark) {
  :root { --ground: #141518; --text: #e3e4e8; --muted: #a2a5af; --line: #292b31; --accent: #8e92f8; --accent-text: #14151c }
}
body { margin: 0; background: var(--ground); color: var(--text); font: 14px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "Liberation Sans", sans-serif }
main { max-width: 30em; margin: 18vh auto 0; padding: 0 24px }
header { padding-bottom: 12px; border-bottom: 1px solid var(--line); font-weight: 650 }
h1 { margin: 20px 0 8px; font-size: 18px; font-weight: 600 }
p { margin: 0 0 12px }
.why { color: var(--muted) }
button { padding: 6px 12px; border: 0; border-radius: 6px; background: var(--accent); color: var(--accent-text); font: inherit; font-weight: 550; cursor: pointer }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
`;
const styleHash = createHash('sha256').update(style).digest('base64');

/** The path of the page's button: `POST` prints a new link in the terminal. */
export const newLinkPath = '/new-link';

const form = `<p>No link that works?</p>
<form method="post" action="${newLinkPath}"><button>Print a new link</button></form>`;

const page = ([title, why]: Words, wasPrinted: boolean): string => `<!doctype html>
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
<p>${advice}</p>
${wasPrinted ? '' : form}
</main>
`;

/** The answer to a caller that is not signed in: for browsers a page without scripts, for others one line of text. */
export function signInAnswer(reason: SignInReason, accept: string | undefined): FileAnswer {
  const status = reason === 'printed' ? 200 : 401;
  const said = words[reason];
  if (!accept?.includes('text/html')) return plain(status, `${said[0]}. ${advice} Scripts send the bearer of stemma web --bearer-file PATH.`);
  const policy = contentSecurityPolicy
    .replace("style-src 'self'", `style-src 'sha256-${styleHash}'`)
    .replace("form-action 'none'", "form-action 'self'");
  // With `no-referrer` the browser would send the form with the Origin `null`.
  const headers = { 'content-security-policy': policy, 'referrer-policy': 'same-origin' };
  return answerWith(status, 'text/html', page(said, reason === 'printed'), headers);
}
