import { refOfHash } from '../artifacts/index.js';
import { type ArtifactNo, badRequest, decodeText, inWords, notFound, toTimestamp } from '../base/index.js';
import type { InputOf, OutputOf, TemplateRecord } from '../contract/index.js';
import type { ReadChain, WriteChain } from './chain.js';
import { findChildren, findCommit } from './find.js';
import { materialize } from './materialize.js';

interface TemplateRow {
  readonly name: string;
  readonly version: number;
  readonly artifact: ArtifactNo;
  readonly author: string | null;
  readonly createdAt: number;
}

const columns = 'name, version, artifact, author, createdAt';

/** Stores content as the next version of a template, which describes a kind of agent (C16). The content of the last version returns that version. */
export function putTemplate(
  chain: WriteChain,
  input: { name: string; bytes: Uint8Array; contentType: string; author?: string | undefined },
): TemplateRecord {
  if (input.name.includes('@'))
    throw badRequest('name', `${inWords(input.name)} contains "@". Give the name without a version; Stemma numbers the versions.`);
  return chain.artifacts.transaction(() => {
    const { no } = chain.artifacts.put(input.bytes, { contentType: input.contentType });
    const last = findTemplate(chain, input.name);
    if (last?.artifact === no) return toTemplate(chain, last);
    const version = (last?.version ?? 0) + 1;
    const row: TemplateRow = { name: input.name, version, artifact: no, author: input.author ?? null, createdAt: chain.clock() };
    const insert = `INSERT INTO template (project, ${columns}) VALUES (:project, :name, :version, :artifact, :author, :createdAt)`;
    chain.db.run(insert, { project: chain.project, ...row });
    return toTemplate(chain, row);
  });
}

/** Finds a template by `name@version`, or the last version by `name`. @throws NOT_FOUND */
export function templateOf(chain: ReadChain, template: string): TemplateRecord {
  const row = find(chain, template);
  if (!row) throw notFound(template, `This project has no template ${inWords(template)}.`);
  return toTemplate(chain, row);
}

/** The content of a template as text; undefined if the project has no record of it. */
export function templateText(chain: ReadChain, template: string): string | undefined {
  const row = find(chain, template);
  return row && decodeText(chain.artifacts.read(row.artifact));
}

/** All versions of all templates, or of one, newest first. */
export function listTemplates(chain: ReadChain, name: string | null = null): TemplateRecord[] {
  const select = `SELECT ${columns} FROM template WHERE project = :project AND (:name IS NULL OR name = :name) ORDER BY no DESC`;
  return chain.db.all<TemplateRow>(select, { project: chain.project, name }).map((row) => toTemplate(chain, row));
}

/**
 * Combines a template with a context, and records that it did. The same call starts, resumes and forks an agent: it resumes from the last commit of an
 * agent, and forks from one that the agent continued from.
 */
export function instantiate(chain: WriteChain, input: InputOf<'context.instantiate'>): OutputOf<'context.instantiate'> {
  return chain.artifacts.transaction(() => {
    const row = find(chain, input.template);
    if (!row && input.template.includes('@')) throw notFound(input.template, `This project has no template ${inWords(input.template)}.`);
    const template = row && toTemplate(chain, row);
    const named = template?.template ?? input.template;
    const commit = input.context === null ? null : findCommit(chain, input.context, 'context');
    const made = materialize(chain, { id: input.context, format: input.format, stop: input.stop });
    const { principal = null, machine = null } = input;
    chain.db.run(
      'INSERT INTO instantiation (project, template, context, principal, machine, at) VALUES (:project, :named, :context, :principal, :machine, :at)',
      { project: chain.project, named, context: commit?.seq ?? null, principal, machine, at: chain.clock() },
    );
    return {
      ...made,
      template: named,
      templateRef: template?.artifactRef ?? null,
      context: commit?.id ?? null,
      // What Stemma made on top of a commit, such as a compaction, is not the agent's own work.
      start: commit === null ? 'fresh' : findChildren(chain, commit).some(({ forked }) => !forked) ? 'fork' : 'resume',
    };
  });
}

function find(chain: ReadChain, template: string): TemplateRow | undefined {
  const [, name = template, version] = /^(.*)@(\d{1,9})$/.exec(template) ?? [];
  return findTemplate(chain, name, version === undefined ? undefined : Number(version));
}

const findTemplate = ({ db, project }: ReadChain, name: string, version: number | null = null): TemplateRow | undefined =>
  db.one<TemplateRow>(
    `SELECT ${columns} FROM template WHERE project = :project AND name = :name AND (:version IS NULL OR version = :version) ORDER BY version DESC LIMIT 1`,
    { project, name, version },
  );

function toTemplate(chain: ReadChain, row: TemplateRow): TemplateRecord {
  const [stored] = chain.db.rows<[Buffer, string]>('SELECT hash, contentType FROM artifact WHERE no = ?', row.artifact);
  const [hash, contentType] = stored ?? [Buffer.alloc(32), ''];
  const { name, version, author } = row;
  return {
    name,
    version,
    template: `${name}@${version}`,
    artifactRef: refOfHash(hash),
    contentType,
    ...(author !== null && { author }),
    createdAt: toTimestamp(row.createdAt),
  };
}
