import { basename, dirname, join } from 'node:path';
import { encodeText, parseJson } from '../base/index.js';
import { type LocatedFile, listInside, readInside, statInside, unlessRefused } from '../files/index.js';
import { agentIn } from '../formats/index.js';
import { eventFile, eventFolder, limits, readWhole } from './files.js';

/** The content of the `.meta.json` file beside a subagent's transcript, which names its call. Undefined if it is missing, refused or invalid. */
export function metaBeside(path: string): unknown {
  const beside = path.replace(/\.jsonl$/, '.meta.json');
  if (beside === path) return undefined;
  return unlessRefused(() => {
    if (!statInside(dirname(beside), basename(beside))) return metaInSession(path);
    return parseJson(readInside(dirname(beside), basename(beside), { limit: limits.side }).toString('utf8'));
  });
}

/** For older versions, which write no such file, takes the call from the session that started the subagent. */
function metaInSession(path: string): unknown {
  const [, session, agentId] = /^(.+)[/\\]subagents[/\\]agent-([^/\\]+)\.jsonl$/.exec(path) ?? [];
  if (session === undefined || agentId === undefined) return undefined;
  const file = { root: dirname(session), path: `${session}.jsonl` };
  return statInside(file.root, file.path) && agentIn(readWhole(file), agentId);
}

/** The name of the state file that OpenHands keeps beside the events of a conversation. */
const stateName = 'base_state.json';

/** The path of the state file for an event file. */
export const findStateFolder = (path: string): string | undefined =>
  basename(dirname(path)) === eventFolder && eventFile.test(basename(path)) ? join(dirname(dirname(path)), stateName) : undefined;

/**
 * The conversation of a state file, if its events are files beside it: its events as lines, and the files that hold them.
 * @throws FileRefused, and the error of the file system.
 */
export function folderOf(file: LocatedFile) {
  if (basename(file.path) !== stateName) return undefined;
  const folder = dirname(file.path);
  const events = join(folder, eventFolder);
  if (!listInside(folder).some((entry) => entry.name === eventFolder && entry.isDirectory())) return undefined;
  const names = listInside(folder, events)
    .filter((entry) => entry.isFile() && eventFile.test(entry.name))
    .map(({ name }) => name)
    .sort();
  let room: number = limits.whole;
  const files = names.map((name) => {
    const path = join(events, name);
    const bytes = readInside(folder, path, { limit: room });
    room -= bytes.length;
    return { path, bytes };
  });
  const lines = files.map(({ bytes }) => {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    const event = parseJson(text);
    return `${event === undefined ? text.replaceAll('\n', ' ') : JSON.stringify(event)}\n`;
  });
  return { path: folder, bytes: encodeText(lines.join('')), files: () => [{ path: file.path, bytes: readWhole(file) }, ...files] };
}
