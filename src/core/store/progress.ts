import type { ReadableDb, WritableDb } from './database.js';

/** Reads how far work on what was recorded has come, such as packing objects or pulling from a hub; 0 at first. */
export const readProgress = ({ db, project }: { readonly db: ReadableDb; readonly project: number }, work: string): number =>
  db.one<{ value: number }>('SELECT value FROM progress WHERE project = ? AND name = ?', project, work)?.value ?? 0;

/** Stores how far work on what was recorded has come. */
export const setProgress = ({ db, project }: { readonly db: WritableDb; readonly project: number }, work: string, value: number): void =>
  void db.run('INSERT INTO progress (project, name, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value', project, work, value);

/** Reads how far the work that fills derived data has come; 0 at first, and after derived data was begun anew. */
export const readDerivedProgress = ({ db, project }: { readonly db: ReadableDb; readonly project: number }, work: string): number =>
  db.one<{ value: number }>('SELECT value FROM derivedProgress WHERE project = ? AND name = ?', project, work)?.value ?? 0;

/** Stores how far the work that fills derived data has come. */
export const setDerivedProgress = ({ db, project }: { readonly db: WritableDb; readonly project: number }, work: string, value: number): void =>
  void db.run(
    'INSERT INTO derivedProgress (project, name, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
    project,
    work,
    value,
  );
