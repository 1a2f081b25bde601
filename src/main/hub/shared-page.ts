import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { type ContextId, corrupt, recent } from '../../core/base/index.js';
import { exportComparison, exportContext } from '../../core/export/index.js';
import { createProject } from '../../core/project/index.js';
import { type Hub, pull } from '../../core/sync/index.js';
import { prepareUsage } from '../../core/usage/index.js';
import { hashName } from './names.js';

const keptPages = 8;

/** Opens the pages of share links. A commit never changes, so each page is made only once. */
export function openSharedPages() {
  const kept = recent<string, Promise<string>>(keptPages);
  return (token: string, hub: Hub, shared: readonly Buffer[]): Promise<string> => {
    const made = kept.get(token) ?? makePage(hub, shared);
    kept.set(token, made, 1);
    made.catch(() => kept.delete(token));
    return made;
  };
}

/**
 * The page of a shared commit, as `stemma export --format html` writes it, or of a comparison. It is made from a clone with the link's token, which
 * holds only the shared commits and their ancestors. `shared`: the names of the shared commits. @throws the errors of a pull with the link's token.
 */
async function makePage(hub: Hub, shared: readonly Buffer[]): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'stemma-share-'));
  const project = createProject({ dir: join(dir, 'shared') }, Date.now);
  try {
    await pull(project.chain, hub);
    const { db } = project;
    const commits = db.all<{ id: ContextId; digest: Buffer }>('SELECT id, digest FROM commits');
    const [id, against] = shared.map((name) => commits.find(({ digest }) => hashName('context', digest.toString('hex')).equals(name))?.id);
    if (id === undefined) throw corrupt('share', 'The hub does not hold the commit of this link as it was pushed.');
    if (against === undefined) return exportContext(project.chain, { id, format: 'html', stop: 'root' }).text ?? '';
    await prepareUsage(project.chain);
    return writePage(exportComparison(project.chain, { ids: [id, against] }).text ?? '');
  } finally {
    project.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A Markdown document as a page that runs and loads nothing. Markup in the document is shown as text. */
const writePage = (markdown: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Comparison</title>
<style>
:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; --line: light-dark(#d9dae1, #3c3f48); --code: light-dark(#f1f1f4, #1d1e23); }
body { max-width: 60rem; margin: 0 auto; padding: 16px 24px 48px; overflow-wrap: anywhere; }
h1 { font-size: 20px; } h2 { font-size: 17px; margin-top: 28px; } h3 { font-size: 15px; }
table { border-collapse: collapse; display: block; overflow-x: auto; overflow-wrap: normal; }
th, td { border: 1px solid var(--line); padding: 4px 8px; text-align: left; vertical-align: top; }
td code { white-space: nowrap; }
code { font: 12px/1.5 ui-monospace, monospace; background: var(--code); padding: 1px 4px; border-radius: 4px; }
pre { background: var(--code); padding: 10px 12px; border-radius: 6px; overflow-x: auto; white-space: pre-wrap; }
pre code { padding: 0; background: none; }
</style>
</head>
<body>${micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()] })}</body>
</html>
`;

export interface SharedPageFacts {
  readonly project: string;
  /** The address of the link in the reader's browser. */
  readonly link: string;
  readonly role: string;
  readonly expiresAt: Date | null;
}

/** The content security policy of a link's page: it may load its frame and its own style. The page in the frame has its own policy. */
export const framePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const inMarkup = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** The read-only page of a link: a bar with the project and the way to fork it, above a frame with the exported page. */
export const frameOf = ({ project, link, role, expiresAt }: SharedPageFacts): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Shared from ${inMarkup(project)}</title>
<style>
:root { color-scheme: light dark; font: 13px system-ui, sans-serif; --line: light-dark(#d9dae1, #3c3f48); --muted: light-dark(#565963, #a4a7b1); }
body { margin: 0; height: 100vh; display: flex; flex-direction: column; }
header { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: center; padding: 8px 16px; border-bottom: 1px solid var(--line); }
header p { margin: 0; flex: 1; min-width: 16em; color: var(--muted); }
header b { color: CanvasText; }
details { max-width: 100%; }
summary { cursor: pointer; padding: 4px 10px; border: 1px solid var(--line); border-radius: 6px; list-style: none; }
details[open] { flex-basis: 100%; }
details[open] summary { width: max-content; }
code { display: block; padding: 8px; margin: 8px 0 4px; overflow-x: auto; white-space: pre; background: light-dark(#f1f1f4, #1d1e23); user-select: all; }
iframe { flex: 1; border: 0; width: 100%; }
</style>
</head>
<body>
<header>
<p><b>Shared from ${inMarkup(project)}</b>, read-only${role === 'reviewer' ? ' on this page; a clone may send tickets' : ''}${expiresAt ? `, until ${expiresAt.toISOString().slice(0, 10)}` : ''}.</p>
<details><summary>Fork into my Stemma</summary>
<code>stemma clone ${inMarkup(link)} shared.stemma</code>
<span>Run this where Stemma is installed. The project it makes is yours: fork, edit and resume from any turn.</span>
</details>
</header>
<iframe src="${inMarkup(link)}/page" title="The shared session" sandbox="allow-scripts"></iframe>
</body>
</html>
`;

/** The page for an invalid link. It does not reveal whether the link ever existed. */
export const refusalPage = (title: string, text: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${inMarkup(title)}</title>
<style>
:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
main { max-width: 30rem; margin: 20vh auto 0; padding: 0 24px; }
h1 { font-size: 18px; margin: 0 0 8px; }
p { margin: 0; color: light-dark(#565963, #a4a7b1); }
</style>
</head>
<body><main><h1>${inMarkup(title)}</h1><p>${inMarkup(text)}</p></main></body>
</html>
`;
