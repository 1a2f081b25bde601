import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { attempt, type Json, parseJson, StemmaError, stringAt } from '../base/index.js';
import { makeFolders, readInside, realPath, realPathIfExists, replaceFile } from '../files/index.js';
import { quoted, shellOf, thisSystem } from '../system/index.js';

/** The projects that a person trusts on this machine. A project that was moved has another path and is not trusted there. */
export type TrustedProjects = ReturnType<typeof openTrustedProjects>;

/**
 * Opens the consent in `dataDir`: one file for each project, so that processes which write at the same time lose nothing. The first time,
 * it adopts the projects that an older Stemma used here: those in the recent list, and Stemma's own.
 */
export function openTrustedProjects(dataDir: string) {
  const folder = join(dataDir, 'trusted');
  const trustFile = (projectId: string, place: string): string =>
    join(folder, `${createHash('sha256').update(`${projectId}\0${place}`).digest('hex')}.json`);
  /** Consent that could not be written. */
  const unwritten = new Set<string>();
  const write = (projectId: string, place: string): void => {
    makeFolders(folder);
    replaceFile(trustFile(projectId, place), `${JSON.stringify({ projectId, place })}\n`);
  };
  const adopt = (): void => {
    // The file exists once the projects of an older Stemma were adopted.
    const mark = join(folder, 'adopted');
    if (existsSync(mark)) return;
    const projects = olderProjects(dataDir).flatMap((dir) => {
      const [projectId, place] = [projectIdIn(dir), realPathIfExists(dir)];
      return projectId !== undefined && place !== undefined ? [{ projectId, place }] : [];
    });
    try {
      for (const { projectId, place } of projects) write(projectId, place);
      makeFolders(folder);
      replaceFile(mark, '');
    } catch {
      for (const { projectId, place } of projects) unwritten.add(trustFile(projectId, place));
    }
  };
  adopt();
  return {
    has: (projectId: string, dir: string): boolean => {
      const place = realPathIfExists(dir);
      if (place === undefined) return false;
      const file = trustFile(projectId, place);
      return existsSync(file) || unwritten.has(file);
    },
    /** Records consent. @throws the error of the file system if Stemma's own folder cannot be written to. */
    add: (projectId: string, dir: string): void => write(projectId, realPath(dir)),
    /** Trusts a project that this machine creates. If Stemma's own folder cannot be written to, the consent ends with the process. */
    created: (projectId: string, dir: string): void => {
      const place = realPathIfExists(dir) ?? join(realPath(dirname(dir)), basename(dir));
      try {
        write(projectId, place);
      } catch {
        unwritten.add(trustFile(projectId, place));
      }
    },
  };
}

/** `project.json` holds a few short fields, and the recent list a few projects. */
const maxFileBytes = 1024 * 1024;

/** A small JSON file. Undefined if it cannot be read. */
const readSmall = (dir: string, name: string): Json | undefined =>
  attempt(() => parseJson(readInside(dir, name, { limit: maxFileBytes }).toString('utf8')));

/** The id in the `project.json` of a project folder. Undefined if it cannot be read. */
export const projectIdIn = (dir: string): string | undefined => stringAt(readSmall(dir, 'project.json'), 'projectId');

function olderProjects(dataDir: string): string[] {
  const recent = readSmall(dataDir, 'recent.json');
  const listed = (Array.isArray(recent) ? recent : []).flatMap((item) => stringAt(item, 'dir') ?? []);
  return [...new Set([...listed, join(dataDir, 'Histories.stemma'), join(dataDir, 'Sample.stemma')])];
}

/** The reason why a project that is not trusted on this machine is read-only, and what a person can do. Ends without a period. */
export const whyUntrusted = (dir: string): string =>
  `this machine did not create ${dir}, and it is not trusted here. To change it, run "stemma trust ${quoted(dir, shellOf(thisSystem))}" first`;

/** The error for writing to or choosing a project that is not trusted on this machine. `refused` says what was not done. */
export const untrusted = (dir: string, refused: string): StemmaError =>
  new StemmaError('UNAUTHORIZED', `${refused}: ${whyUntrusted(dir)}.`, { reason: 'restricted', dir });
