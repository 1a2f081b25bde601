import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'vite';

const source = join(import.meta.dirname, 'src', 'page');
const name = 'virtual:exported-page';
/** The files of the built-in rules of findings. */
const findings = { name: 'virtual:finding-rules', folder: join(import.meta.dirname, 'src', 'core', 'analysis', 'rules') };
/** The script of the page that checks evidence: the second implementation of the check. */
const evidence = { name: 'virtual:evidence-page', file: join(import.meta.dirname, 'docs', 'verify-evidence.mjs') };

/**
 * Gives `core/export` the script and the style of an exported page as texts: src/page in one bundle with the Markdown parser.
 * Every build and every test run that contains `core/export` needs it.
 */
export const exportedPage = (): Plugin => ({
  name: 'stemma-exported-page',
  resolveId: (id) => ([name, evidence.name, findings.name].includes(id) ? `\0${id}` : undefined),
  async load(id) {
    if (id === `\0${evidence.name}`) return `export const script = ${JSON.stringify(readFileSync(evidence.file, 'utf8'))};`;
    if (id === `\0${findings.name}`) return `export const rules = ${JSON.stringify(rulesIn(findings.folder))};`;
    if (id !== `\0${name}`) return undefined;
    const style = readFileSync(join(source, 'page.css'), 'utf8');
    return `export const script = ${JSON.stringify(await bundlePage())};\nexport const style = ${JSON.stringify(style)};\n`;
  },
});

const rulesIn = (folder: string) =>
  readdirSync(folder)
    .sort()
    .map((file) => ({ name: file.replace('.sql', ''), sql: readFileSync(join(folder, file), 'utf8') }));

async function bundlePage(): Promise<string> {
  const made = await build({
    configFile: false,
    logLevel: 'warn',
    // The variant of the parser for browsers writes markup into the document to decode entities, which the page's policy refuses.
    resolve: { conditions: ['worker', 'module', 'production'] },
    build: {
      write: false,
      target: 'es2022',
      reportCompressedSize: false,
      rollupOptions: { input: join(source, 'main.ts'), output: { format: 'iife' } },
    },
  });
  const chunk = [made]
    .flat()
    .flatMap((one) => ('output' in one ? one.output : []))
    .find((one) => one.type === 'chunk');
  if (chunk === undefined) throw new Error('The script of the exported page has no output.');
  // Nothing in the script may end the element that holds it.
  return chunk.code.replaceAll(/<(?=\/script|!--)/gi, '\\x3c');
}
