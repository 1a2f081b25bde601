import { describe, expect, test } from 'vitest';
import { filesBelow, isSource, parseSource } from '../support/source.js';
import { functionSizes, importCycles, typesDeclaredTwice, undocumentedExports } from '../support/structure.js';

const maxLinesOfFile = 400;
const maxLinesOfFunction = 80;

/** Code that asks which kind of work it has. */
const tellsKinds = /'(?:turnId|runId|eventId|commit|caseId)' in (?:what|work)/;

const sources = filesBelow('src', isSource).map((path) => parseSource(path));

describe('structure', () => {
  test('no file imports itself through others, type-only imports included', () => {
    expect(importCycles(sources)).toEqual([]);
  });

  test('a source file has at most 400 lines', () => {
    const long = sources.map(({ path, text }) => ({ path, lines: text.split('\n').length })).filter(({ lines }) => lines > maxLinesOfFile);
    expect(long).toEqual([]);
  });

  test('a function has at most 80 lines, or says "Long because …" at its top', () => {
    const long = sources.flatMap(functionSizes).filter(({ lines, explained }) => lines > maxLinesOfFunction && !explained);
    expect(long.map(({ file, line, name, lines }) => `${file}:${line} ${name} has ${lines} lines`)).toEqual([]);
  });

  test('every exported function has a docstring', () => {
    expect(sources.flatMap(undocumentedExports)).toEqual([]);
  });

  test('the name of an exported type has one declaration', () => {
    expect(typesDeclaredTwice(sources)).toEqual([]);
  });

  test('one table tells kinds of work apart, so that a new kind is one file and one row', () => {
    const isRunner = ({ path }: { path: string }) => path.startsWith('src/core/runner/') && !path.endsWith('/kinds.ts');
    expect(sources.filter((source) => isRunner(source) && tellsKinds.test(source.text)).map(({ path }) => path)).toEqual([]);
  });

  test('one file opens projects with node:sqlite, in a process of its own', () => {
    const opens = sources.filter(({ path, text }) => !path.startsWith('src/core/analysis/') && /\bopen(?:Scoped)?Views\(/.test(text));
    expect(opens.map(({ path }) => path)).toEqual(['src/core/project/asking.ts']);
  });

  test('these checks can fail', () => {
    expect("if ('turnId' in what) return").toMatch(tellsKinds);
    const twice = ['export interface Place {}', 'export type Place = string;', 'interface Own {}', 'export class Own {}'];
    expect(typesDeclaredTwice(twice.map((text, at) => parseSource(`${at}.ts`, text)))).toEqual(['Place: 0.ts, 1.ts']);
    const body = '  call();\n'.repeat(maxLinesOfFunction);
    const source = parseSource('bad.ts', `export function long() {\n${body}}\n/** Long because it is a table. */\nfunction table() {\n${body}}\n`);
    expect(functionSizes(source).map(({ name, lines, explained }) => [name, lines, explained])).toEqual([
      ['long', 82, false],
      ['table', 82, true],
    ]);
    expect(undocumentedExports(source)).toEqual(['bad.ts: long']);
    const cycle = [
      { ...parseSource('src/core/base/ids.ts', ''), requests: ['./json.js'] },
      { ...parseSource('src/core/base/json.ts', ''), requests: ['./ids.js'] },
    ];
    expect(importCycles(cycle)).toEqual([['src/core/base/ids.ts', 'src/core/base/json.ts']]);
  });
});
