import { badRequest, defined, inWords, isObject, type Json, stringAt } from '../base/index.js';
import type { CollectServices, ExperienceRecord, KnowledgeChunk } from '../contract/index.js';
import { spacedJson } from '../formats/index.js';

/** Formats a block: a title, then sections by their headings, each after an empty line. Lines have no trailing spaces. */
function block(title: string, sections: Readonly<Record<string, readonly string[]>>): string {
  const filled = Object.entries(sections).filter(([, lines]) => lines.length > 0);
  if (filled.length === 0) return '';
  const text = [`# ${title}`, ...filled.flatMap(([heading, lines]) => ['', `## ${heading}`, ...lines])].join('\n');
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** The todo block: the plan, its next item, and the delegated task, which is shown even without a plan. */
export function todoBlock(todo: unknown, assignedTask: unknown): string {
  const items = readItems(todo);
  const goal = stringAt(todo, 'goal');
  const next = items.find((item) => item.status === 'pending');
  const lines = items.map(({ status, id, text, result }) => `- [${status}] [${id}] ${oneLine(text)}${result ? ` -> ${oneLine(result)}` : ''}`);
  return block('Todo Context', {
    'Team Todo': goal && lines.length > 0 ? [`- goal: ${oneLine(goal)}`, ...lines] : lines,
    'Current Focus': next ? [`- [${next.id}] ${oneLine(next.text)}`] : [],
    'Assigned Task': typeof assignedTask === 'string' && assignedTask.trim() !== '' ? [`- ${oneLine(assignedTask)}`] : [],
  });
}

/** The items of a todo, in the shape of a state or of a runtime's own tool. */
function readItems(todo: unknown) {
  const list = isObject(todo) ? todo.items : todo;
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).flatMap((item: Json, place) => {
    const text = stringAt(item, 'description') ?? stringAt(item, 'content');
    if (text === undefined) return [];
    return [{ id: stringAt(item, 'id') ?? `t${place + 1}`, text, status: stringAt(item, 'status') ?? 'pending', result: stringAt(item, 'result') }];
  });
}

export type KnowledgeLimits = Omit<NonNullable<CollectServices['knowledge']>, 'chunks'>;

/**
 * The knowledge block: chunks in the order of the retriever, as many as fit. It ends at the first chunk that does not fit, so that a
 * worse chunk never replaces a better one.
 * @throws BAD_REQUEST for a format other than markdown and json.
 */
export function knowledgeBlock(
  chunks: readonly KnowledgeChunk[],
  { maxChunks = 6, maxTokens = 1_200, format = 'markdown' }: KnowledgeLimits = {},
): string {
  const chosen = fitting(
    chunks.map((chunk) => ({ ...chunk, content: chunk.content.trim() })).filter((chunk) => chunk.content !== ''),
    maxChunks,
    maxTokens * 2,
  );
  if (chosen.length === 0) return '';
  if (format === 'markdown') return knowledgeMarkdown(chosen);
  if (format === 'json') return spacedJson({ title: 'Knowledge Context', chunks: chosen.map(knowledgeJson) });
  throw badRequest('services.knowledge.format', `the format of knowledge must be markdown or json, not ${inWords(format)}`);
}

function fitting(chunks: readonly KnowledgeChunk[], maxChunks: number, maxLetters: number): readonly KnowledgeChunk[] {
  const ends = chunks.map((_, place) => chunks.slice(0, place + 1).reduce((letters, chunk) => letters + chunk.content.length, 0));
  const first = ends.findIndex((letters) => letters > maxLetters);
  return chunks.slice(0, Math.min(maxChunks, first === -1 ? chunks.length : first));
}

function knowledgeMarkdown(chunks: readonly KnowledgeChunk[]): string {
  const parts = chunks.map(
    (chunk, place) => `### Chunk ${place + 1}\n- Source: ${oneLine(chunk.sourceId)} / ${oneLine(chunk.docTitle ?? chunk.docId)}\n${chunk.content}`,
  );
  return `# Knowledge Context\n\n## Chunks\n${parts.join('\n\n')}`;
}

const knowledgeJson = (chunk: KnowledgeChunk): Json => ({
  source_id: chunk.sourceId,
  doc_id: chunk.docId,
  ...defined({ doc_title: chunk.docTitle }),
  chunk_id: chunk.chunkId,
  content: chunk.content,
});

/** The experience block: at most three different records, successful ones first. */
export function experienceBlock(records: readonly ExperienceRecord[]): string {
  const once = records.filter((record, place) => records.findIndex((other) => other.id === record.id) === place);
  const chosen = [...once.filter((record) => record.outcome === 'success'), ...once.filter((record) => record.outcome !== 'success')].slice(0, 3);
  return block('Experience Context', { 'Earlier Work': chosen.map(experienceLine) });
}

function experienceLine(record: ExperienceRecord): string {
  const letters = Array.from(oneLine(record.summary));
  const outcome = record.outcome === 'unknown' ? '' : `[${record.outcome}] `;
  return `- ${outcome}${letters.slice(0, 100).join('')}${letters.length > 100 ? '...' : ''}${record.contextId ? ` (${record.contextId})` : ''}`;
}
