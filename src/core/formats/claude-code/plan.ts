import { stringAt } from '../../base/index.js';
import type { FileBytes, ImportPlan, PlanContext, Problem } from '../format.js';
import { type About, commitsOf, longestName, mainTemplate, subagentTemplate } from './commits.js';
import { type Line, type Lines, placeOnly, readLines } from './line.js';
import { recordAt } from './lines.js';
import { readerOf } from './reading.js';
import { cutStrands, isStored, placeLines, type Segment } from './segments.js';
import { goesOnPlainly } from './tail.js';
import { bestTitle } from './title.js';
import { growTree, isNode, type Node, type Strand, type Tree } from './tree.js';

export const formatId = 'claude-code-v1';

/** So much of a file that is not in memory is looked at together; a longer line is taken whole. */
const usualPart = 4 * 1024 * 1024;

/** Plans the import of a file: a pure function of its bytes, its name and what the project knows; the same whatever the part. */
export function planImport(file: FileBytes, context: PlanContext, part = usualPart): ImportPlan {
  const plan = goesOnPlainly(file, context) ? planFile(file, { ...context, resumeAt: 0 }, part, context.resumeAt) : undefined;
  // A problem is told by its line in the file, which only a reader of all of it knows.
  return plan && plan.skipped.length + plan.notes.length === 0 ? plan : planFile(file, context, part);
}

/** The plan of what stands behind `begin`, as if it were all. */
function planFile(file: FileBytes, context: PlanContext, part: number, begin = 0): ImportPlan {
  const { resumeAt, known } = context;
  const scan = withoutOpenCompaction(readLines(file, { part, begin, from: resumeAt }));
  const { lines } = scan;
  const first = lines.find(({ uuid }) => uuid !== undefined);
  const wholeIsSidechain = first !== undefined && lines.every(({ uuid, sidechain }) => uuid === undefined || sidechain);
  const storedAs = ({ uuid, start, more }: Line, parentStored: boolean): string | undefined => {
    if (uuid === undefined || start < resumeAt) return uuid;
    if (!parentStored) return undefined;
    if (known.has(uuid)) return uuid;
    const origin = more?.forkedFrom;
    return origin !== undefined && known.has(origin) ? origin : undefined;
  };
  const tree = growTree(lines, {
    storedAs,
    isTakenIn: ({ start }) => start < resumeAt,
    isKnown: (uuid) => known.has(uuid),
    recordOf: (line) => recordAt(file, line),
    wholeIsSidechain,
  });
  const runs = cutStrands(tree, context.granularity);
  const side = placeLines(lines, tree, runs, resumeAt);
  const sessionId = sessionIdOf(context.path, first?.more?.sessionId, wholeIsSidechain);
  const cwd = context.before?.cwd ?? lines.find(({ more }) => more?.cwd)?.more?.cwd;
  const about: About = {
    template: wholeIsSidechain ? subagentTemplate(stringAt(context.meta, 'agentType')) : mainTemplate,
    ...(cwd === undefined ? {} : { principal: `${mainTemplate}@${cwd}`.slice(0, longestName) }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(wholeIsSidechain && stringAt(context.meta, 'toolUseId') !== undefined ? { startedBy: stringAt(context.meta, 'toolUseId') } : {}),
  };
  const { commits, numbers } = commitsOf(runs, tree, about, { reader: readerOf(file, resumeAt), isKnown: (record) => known.has(record) });
  const freshFrom = lines.find(({ start }) => start >= resumeAt)?.line ?? Number.POSITIVE_INFINITY;
  const fresh = (problems: readonly Problem[]): Problem[] => problems.filter(({ line }) => line >= freshFrom).sort((a, b) => a.line - b.line);
  const title = bestTitle(lines.flatMap(({ more }) => more?.title ?? []));
  return {
    format: formatId,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(title === undefined ? {} : { title }),
    ...(cwd === undefined ? {} : { cwd }),
    commits,
    side,
    skipped: fresh([...scan.skipped, ...tree.skipped]),
    notes: fresh([...scan.notes, ...tree.notes]),
    tips: tipsOf(runs, tree, numbers),
    end: scan.end,
  };
}

/** A compaction at the end of a file whose summary is not written yet is left for the next import, like half a line. */
function withoutOpenCompaction(scan: Lines): Lines {
  const at = scan.lines.findLastIndex(({ part }) => part !== 'quiet');
  const boundary = scan.lines[at];
  if (boundary?.part !== 'boundary') return scan;
  return {
    ...scan,
    lines: scan.lines.map((line, place) => (place < at ? line : placeOnly(line, 'half'))),
    skipped: [
      ...scan.skipped.filter(({ line }) => line < boundary.line),
      { line: boundary.line, reason: 'a compaction without its summary: left for the next import' },
    ],
    notes: scan.notes.filter(({ line }) => line < boundary.line),
    end: boundary.start,
  };
}

/** Leaves by the place of their last record in the file, subagents first: the agent resumes the last of the others. */
function tipsOf(segments: readonly Segment[], tree: Tree, numbers: ReadonlyMap<Segment, number>): ImportPlan['tips'] {
  const goneOnFrom = new Set<Node>();
  for (const { from } of tree.strands) if (isNode(from)) goneOnFrom.add(from);
  const last = new Map<Strand, Segment>();
  for (const segment of segments) if (isStored(segment) || numbers.has(segment)) last.set(segment.strand, segment);
  const leaves = [...last].filter(([strand]) => !goneOnFrom.has(strand.nodes.at(-1) as Node));
  const order = ([strand]: readonly [Strand, Segment]): number => (strand.sidechain ? -1e15 : 0) + (strand.nodes.at(-1)?.start ?? 0);
  return leaves
    .sort((a, b) => order(a) - order(b))
    .flatMap(([, segment]): ImportPlan['tips'] => {
      const plan = numbers.get(segment);
      const stored = segment.nodes.at(-1)?.stored;
      return plan !== undefined ? [{ plan }] : stored !== undefined ? [{ record: stored }] : [];
    });
}

const uuidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
/** The file's name is the session's id; its lines may come from others. A subagent's lines name the session that started it. */
function sessionIdOf(path: string, said: string | undefined, subagent: boolean): string | undefined {
  const named = uuidPattern.exec(path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1))?.[0];
  const id = subagent ? (said ?? named) : (named ?? said);
  return id === undefined || id === '' ? undefined : id.slice(0, longestName);
}
