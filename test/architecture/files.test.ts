import { describe, expect, test } from 'vitest';
import { filesBelow, identifier, isSource, lineAt, type Node, nodesOf, parseSource, type Source } from '../support/source.js';

/** The one folder that opens what a project, a history or an archive brought along. */
const opener = 'src/core/files/';

const ownFolder = 'it reads a file in the folder of Stemma itself, which only Stemma writes';
const named = 'it reads a file or a pipe that the person named';
const checked = 'core/files checked the file before; SQLite and copies open files by their names';

/** Files that open files or list folders by themselves, each with what it uses and why nothing that somebody else made is opened through it. */
const exemptions: readonly { readonly file: string; readonly uses: readonly string[]; readonly because: string }[] = [
  { file: 'src/core/artifacts/caches.ts', uses: ['openSync'], because: 'it creates new files of its own' },
  { file: 'src/core/artifacts/packs.ts', uses: ['openSync'], because: 'it creates new packs, and syncs their folder' },
  { file: 'src/core/export/resume.ts', uses: ['readdirSync'], because: 'it lists names in the folder of an agent; core/files reads the files' },
  { file: 'src/core/project/capture.ts', uses: ['readFileSync'], because: ownFolder },
  { file: 'src/core/project/engine.ts', uses: ['readFileSync'], because: ownFolder },
  { file: 'src/core/project/folder.ts', uses: ['readdirSync'], because: 'it asks whether the folder for a new project is empty' },
  { file: 'src/core/project/storage.ts', uses: ['readdirSync'], because: 'it adds up sizes and follows no link' },
  { file: 'src/core/replicas/folder.ts', uses: ['open'], because: 'it checks the file as core/files does, and reads it without blocking the engine' },
  { file: 'src/core/replicas/settings.ts', uses: ['readFileSync'], because: ownFolder },
  { file: 'src/core/store/copy.ts', uses: ['Database', 'readFileSync'], because: checked },
  { file: 'src/core/store/connection.ts', uses: ['Database'], because: checked },
  { file: 'src/core/store/confined.ts', uses: ['node:sqlite'], because: checked },
  { file: 'src/core/store/definitions.ts', uses: ['Database'], because: 'its database is in memory' },
  { file: 'src/core/store/foreign.ts', uses: ['Database', 'copyFileSync'], because: checked },
  { file: 'src/core/store/log.ts', uses: ['openSync'], because: checked },
  { file: 'src/core/store/rebuild.ts', uses: ['Database'], because: checked },
  { file: 'src/core/store/verify.ts', uses: ['Database'], because: 'it opens the copy that Stemma has just made' },
  { file: 'src/core/project/summaries.ts', uses: ['readFileSync'], because: ownFolder },
  { file: 'src/core/sync/settings.ts', uses: ['readFileSync'], because: ownFolder },
  { file: 'src/main/cli/call.ts', uses: ['readFileSync'], because: named },
  { file: 'src/main/cli/analysis.ts', uses: ['readFileSync'], because: named },
  { file: 'src/main/cli/hooks.ts', uses: ['readFileSync'], because: 'it reads the settings of the person’s own agent, and their backup' },
  { file: 'src/main/cli/projects.ts', uses: ['readFileSync'], because: named },
  { file: 'src/main/cli/serve.ts', uses: ['readFileSync'], because: named },
  { file: 'src/main/cli/tickets.ts', uses: ['readFileSync'], because: named },
  { file: 'src/main/electron/window-state.ts', uses: ['readFileSync'], because: ownFolder },
  { file: 'src/main/electron/updates.ts', uses: ['readFileSync'], because: 'it reads the manifest of the program itself' },
  { file: 'src/main/hub/embedded.ts', uses: ['readFileSync'], because: 'it reads the password that the hub itself wrote' },
  { file: 'src/main/hub/load-embedded.ts', uses: ['readFileSync'], because: 'it reads a list in an installed package' },
  { file: 'src/main/launch/command.ts', uses: ['readFileSync'], because: 'it reads the manifest of the program itself' },
  { file: 'src/main/launch/log.ts', uses: ['readFileSync'], because: ownFolder },
  { file: 'src/main/launch/projects.ts', uses: ['readdirSync'], because: 'it lists names of folders' },
  { file: 'src/main/launch/update-settings.ts', uses: ['readFileSync'], because: ownFolder },
  { file: 'src/main/providers/accounts.ts', uses: ['readFileSync'], because: ownFolder },
  { file: 'src/main/runner/workshop.ts', uses: ['cp'], because: 'it copies the folder that the person chose, with its links as links' },
  { file: 'src/main/start/index.ts', uses: ['readFileSync', 'readdirSync'], because: 'it reads the program itself, before its first build' },
  { file: 'src/main/start/notices.ts', uses: ['readFileSync', 'readdirSync'], because: 'it reads the packages that the program is built from' },
  { file: 'src/main/system/processes.ts', uses: ['readFileSync', 'readdirSync'], because: 'it reads the list of processes in /proc' },
  { file: 'src/main/system/programs.ts', uses: ['openSync'], because: 'it reads a batch file that is about to be started' },
  { file: 'src/main/system/wsl.ts', uses: ['readdirSync'], because: 'it lists the names of home folders' },
  { file: 'src/main/start/release.ts', uses: ['readFileSync'], because: 'it reads the manifest, the changelog and the files of a release' },
  { file: 'src/main/window/files.ts', uses: ['readFile'], because: 'it reads files of the program itself' },
];

/** Functions of Node that open a file or list a folder by its path. */
const opening =
  /^(open|openSync|openAsBlob|createReadStream|readFile|readFileSync|cp|cpSync|copyFile|copyFileSync|opendir|opendirSync|readdir|readdirSync|glob|globSync)$/;

interface Find {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

/** Everything by which a file can open another file. */
function openers(source: Source): Find[] {
  const imported = source.names.flatMap((one) => {
    const [module = '', name = ''] = one.split(' ');
    if (module === 'node:sqlite') return [module];
    if (module !== 'node:fs' && module !== 'node:fs/promises') return [];
    return opening.test(name) || name === '*' || name === 'promises' ? [name] : [];
  });
  const made = nodesOf(source.program).filter((node: Node) => node.type === 'NewExpression' && identifier(node.callee) === 'Database');
  return [
    ...imported.map((what) => ({ file: source.path, line: 1, what })),
    ...made.map((node) => ({ file: source.path, line: lineAt(source.text, node.start), what: 'Database' })),
  ];
}

describe('files', () => {
  const finds = ['src/core', 'src/main']
    .flatMap((folder) => filesBelow(folder, isSource))
    .filter((path) => !path.startsWith(opener))
    .flatMap((path) => openers(parseSource(path)));
  const isExempt = ({ file, what }: Find): boolean => exemptions.some((one) => one.file === file && one.uses.includes(what));

  test('[T10, T11] only core/files opens what a project or a history brings along', () => {
    expect(finds.filter((find) => !isExempt(find)).map(({ file, line, what }) => `${file}:${line} ${what}`)).toEqual([]);
  });

  test('every exemption is needed', () => {
    const unused = exemptions.flatMap(({ file, uses }) => uses.filter((what) => !finds.some((find) => find.file === file && find.what === what)));
    expect(unused).toEqual([]);
  });

  test('these checks can fail', () => {
    const guilty = `import fs, { readFileSync as read, type Dirent } from 'node:fs';
      import * as all from 'node:fs/promises';
      const db = new Database(path);`;
    expect(openers(parseSource('guilty.ts', guilty)).map(({ what }) => what)).toEqual(['*', 'readFileSync', '*', 'Database']);
  });
});
