import { sha256Of } from '../../artifacts/index.js';
import { type ArtifactNo, canonicalJson, decodeText, isObject, type Json, notFound, onceFor, stringAt, toTimestamp } from '../../base/index.js';
import type { ReadChain } from '../../chain/index.js';
import type { PartDiff, PartSection, RequestPart, RequestPartRow } from '../../contract/index.js';
import { changedLines } from '../../diff/index.js';
import { countTokens } from '../../formats/index.js';
import { statedParts, type StatedPart as Use } from '../rebuild/answers.js';
import { storedDetails } from '../record/calls.js';

/** Content that stays the same between calls, as the library lists it: a system prompt or a set of tools. */
type Kind = RequestPartRow['kind'];

type Known = ReturnType<typeof describePart>;

/** The distinct system prompts and tool sets, without cache marks, most recently used first, with senders, versions and counts. */
export const listParts = (chain: ReadChain): RequestPartRow[] => known(chain).map(({ row }) => row);

/** One part, in readable sections. @throws NOT_FOUND for an unknown id. */
export function getPart(chain: ReadChain, partId: string): RequestPart {
  const { row, value } = requirePart(known(chain), partId);
  return { ...row, sections: sectionsOf(row.kind, value) };
}

/** Compares two parts of one kind, line by line. @throws NOT_FOUND for an unknown id. */
export function diffParts(chain: ReadChain, a: string, b: string): PartDiff {
  const all = known(chain);
  const [before, after] = [requirePart(all, a), requirePart(all, b)];
  const sides = [before, after].map(({ row, value }) => new Map(sectionsOf(row.kind, value).map(({ name, text }) => [name, text])));
  const [left, right] = sides as [Map<string, string>, Map<string, string>];
  const sections = [...new Set([...left.keys(), ...right.keys()])].map((name): PartDiff['sections'][number] => {
    const [one, other] = [left.get(name), right.get(name)];
    if (one === other) return { name, op: 'same', lines: [] };
    return { name, op: one === undefined ? 'added' : other === undefined ? 'removed' : 'changed', lines: changedLines(one, other) };
  });
  const order = (parts: ReadonlyMap<string, string>, others: ReadonlyMap<string, string>) => [...parts.keys()].filter((name) => others.has(name));
  return {
    a: before.row,
    b: after.row,
    same: left.size === right.size && sections.every(({ op }) => op === 'same'),
    reordered: order(left, right).join('\n') !== order(right, left).join('\n'),
    sections,
  };
}

function requirePart(all: readonly Known[], partId: string): Known {
  const found = all.find(({ row }) => row.partId === partId);
  if (!found) throw notFound(partId, `no system prompt or tool set of this project has the id ${partId}`);
  return found;
}

function known(chain: ReadChain): Known[] {
  const byId = Map.groupBy(
    [...usesInRecords(chain), ...statedParts(chain)],
    ({ kind, value }) => `${kind === 'system' ? 'prompt' : 'tools'}-${sha256Of(canonicalJson(value)).toString('hex').slice(0, 16)}`,
  );
  return [...byId].map(([id, uses]) => describePart(id, uses)).sort((a, b) => (a.row.last < b.row.last ? 1 : a.row.last > b.row.last ? -1 : 0));
}

function describePart(partId: string, uses: readonly Use[]) {
  const [{ kind, value }] = uses as [Use];
  const sections = sectionsOf(kind, value);
  const distinct = (values: readonly string[]): string[] => [...new Set(values)].filter((each) => each !== '').sort();
  return {
    value,
    row: {
      partId,
      kind,
      agents: distinct(uses.map((use) => use.agent)),
      versions: distinct(uses.flatMap((use) => use.versions)),
      first: toTimestamp(Math.min(...uses.map((use) => use.first))),
      last: toTimestamp(Math.max(...uses.map((use) => use.last))),
      tokens: countTokens(canonicalJson(value)),
      calls: uses.reduce((sum, use) => sum + use.calls, 0),
      sessions: new Set(uses.map((use) => use.session)).size,
      sections: sections.length,
      head: writeHead(kind, sections),
    },
  };
}

const headLength = 160;

/** A short description: the beginning of a prompt, the names of tools. */
const writeHead = (kind: Kind, sections: readonly PartSection[]): string =>
  (kind === 'tools' ? sections.map(({ name }) => name).join(', ') : sections.map(({ text }) => text).join(' '))
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, headLength)
    .toWellFormed();

function usesInRecords(chain: ReadChain): Use[] {
  const { db, project, artifacts } = chain;
  const groups = db.all<Pick<Use, 'session' | 'calls' | 'first' | 'last'> & Readonly<Record<'shape' | 'firstNo' | 'lastNo', number>>>(
    `SELECT r.shape, c.sessionId AS session, COUNT(*) AS calls, MIN(r.no) AS firstNo, MAX(r.no) AS lastNo, MIN(r.at) AS first, MAX(r.at) AS last
       FROM request r JOIN requestConversation c ON c.no = r.conversation
      WHERE r.project = ? AND r.shape IS NOT NULL GROUP BY r.shape, c.no`,
    project,
  );
  const valueAt = onceFor((artifact: ArtifactNo) => JSON.parse(decodeText(artifacts.read(artifact))) as Json);
  return groups.flatMap(({ shape, firstNo, lastNo, ...group }) => {
    const row = db.one<Record<Kind, ArtifactNo | null>>('SELECT system, tools FROM requestShape WHERE no = ?', shape);
    const ends = [...new Set([firstNo, lastNo])].flatMap((no) => storedDetails(chain, no) ?? []);
    const shared = { ...group, agent: ends[0]?.querySource ?? '', versions: ends.flatMap(({ version }) => version ?? []) };
    return (['system', 'tools'] as const).flatMap((kind): Use[] => {
      const artifact = row?.[kind];
      return artifact ? [{ ...shared, kind, value: valueAt(artifact) }] : [];
    });
  });
}

function sectionsOf(kind: Kind, value: Json): PartSection[] {
  const blocks = Array.isArray(value) ? value : [value];
  const section = (name: string, text: string): PartSection => ({ name, text, tokens: countTokens(text) });
  if (kind === 'tools') return blocks.map((tool, at) => section(toolName(tool) ?? `Tool ${at + 1}`, toolText(tool)));
  return blocks.map((block, at) =>
    section(blocks.length > 1 ? `Block ${at + 1}` : 'System prompt', typeof block === 'string' ? block : (stringAt(block, 'text') ?? inJson(block))),
  );
}

const toolName = (tool: Json): string | undefined => stringAt(tool, 'name') ?? (isObject(tool) ? stringAt(tool.function, 'name') : undefined);

function toolText(tool: Json): string {
  const description = stringAt(tool, 'description');
  if (!isObject(tool) || description === undefined) return inJson(tool);
  const { description: _, ...rest } = tool;
  return `${description}\n\n${inJson(rest)}`;
}

const inJson = (value: Json): string => JSON.stringify(value, null, 2);
