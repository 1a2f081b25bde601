import { isObject, stringAt } from '../base/index.js';

const pathArguments = ['file_path', 'path', 'notebook_path', 'filePath', 'absolute_path'];

/** The file that a tool call names. */
export const pathIn = (given: unknown): string | undefined =>
  isObject(given) ? pathArguments.map((name) => stringAt(given, name)).find((path) => path !== undefined) : undefined;
