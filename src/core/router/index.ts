// router: the procedures of the contract. Each is a line that passes its input to the folder that does the work.
// One file for each namespace. Every call runs through `procedure.ts`, which handles access, replicas and errors.
// The router has no SQL and no logic of its own.
import * as namespaces from './namespaces.js';
import { base, kindIn, type ProcedureKind } from './procedure.js';

export { asRefusal } from './errors.js';
export { contextOf, type ProcedureKind, type RouterContext } from './procedure.js';

/** Every procedure of the contract. */
export const router = base.router(namespaces);

/** The kind of a procedure, by its path such as `['context', 'fork']`. @throws Error for a procedure that says none. */
export function kindOf(path: readonly string[]): ProcedureKind {
  const procedure = path.reduce<unknown>((node, name) => (node as Readonly<Record<string, unknown>>)[name], router);
  const kind = kindIn((procedure as { readonly '~orpc': { readonly middlewares: readonly object[] } })['~orpc'].middlewares);
  if (!kind) throw new Error(`${path.join('.')} does not say whether it reads or writes`);
  return kind;
}
