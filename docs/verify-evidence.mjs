// A second, independent check of Stemma's packs of evidence (`stemma-evidence-v1`). It uses Web Crypto and nothing of Stemma, so it runs in Node 20 and
// in a browser: `node verify-evidence.mjs PACK`, or as the script of the page in a pack. docs/evidence.md describes the format.
const encoder = new TextEncoder();
const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
const same = (a, b) => a.length === b.length && a.every((byte, at) => byte === b[at]);
const unbase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** JSON as RFC 8785 writes it: sorted keys, no spaces. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

function join(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The Merkle root of RFC 6962. */
async function merkle(leaves) {
  if (leaves.length === 0) return sha256(new Uint8Array());
  if (leaves.length === 1) return sha256(join(Uint8Array.of(0), leaves[0]));
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return sha256(join(Uint8Array.of(1), await merkle(leaves.slice(0, half)), await merkle(leaves.slice(half))));
}

const table = Uint32Array.from({ length: 256 }, (_, at) => {
  let value = at;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});
function crc32(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) value = table[(value ^ byte) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/** A record of a ZIP: fields of 2 or 4 bytes, then a name. */
function record(fields, name = new Uint8Array()) {
  const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return join(bytes, name);
}

/** The files of a ZIP whose every byte follows from its contents: stored, in order, without times. */
function readZip(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const files = new Map();
  const central = [];
  let at = 0;
  const expect = (part) => {
    if (!same(file.subarray(at, at + part.length), part)) throw new Error(`byte ${at} or one of the next ${part.length} was changed`);
    at += part.length;
  };
  while (at + 30 <= file.length && view.getUint32(at, true) === 0x04034b50) {
    const [offset, size, length] = [at, view.getUint32(at + 22, true), view.getUint16(at + 26, true)];
    const name = file.slice(at + 30, at + 30 + length);
    const bytes = file.subarray(at + 30 + length, at + 30 + length + size);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(name);
    if (bytes.length !== size || files.has(text)) throw new Error(`the file ${text} is cut off or there twice`);
    const common = [
      [2, 20],
      [2, 0x0800],
      [2, 0],
      [2, 0],
      [2, 0x21],
      [4, crc32(bytes)],
      [4, size],
      [4, size],
      [2, length],
    ];
    expect(record([[4, 0x04034b50], ...common, [2, 0]], name));
    at += size;
    files.set(text, bytes);
    central.push(record([[4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]], name));
  }
  const start = at;
  for (const part of central) expect(part);
  expect(
    record([
      [4, 0x06054b50],
      [4, 0],
      [2, files.size],
      [2, files.size],
      [4, at - start],
      [4, start],
      [2, 0],
    ]),
  );
  if (at !== file.length) throw new Error(`${file.length - at} bytes follow the end`);
  return files;
}

const ownNames = /^(manifest\.json|signature\.json|verify\.html|objects\/[0-9a-f]{64}|requests\/[0-9a-f]{64}\.json)$/;

async function checkItem(item, files, refs, say) {
  if (item.path !== undefined && item.sha256 !== undefined) {
    const bytes = files.get(item.path);
    if (!bytes) return say(item.path, 'is in the manifest and not in the pack');
    if (bytes.length !== item.size || hex(await sha256(bytes)) !== item.sha256) say(item.path, 'does not match its SHA-256 and size');
  }
  if (item.kind === 'commit') {
    const digest = hex(await sha256(encoder.encode([item.parent ?? '', item.artifactRef, item.createdAt, item.template].join('\0'))));
    if (item.id !== `ctx-${digest.slice(0, item.id.length - 4)}`) say(item.id, 'is not the id of its parent, object, time and template');
    if (!refs.has(item.artifactRef)) say(item.id, 'names an object that is not in the pack');
  }
  if (item.kind === 'request' && item.proof === 'digest' && item.digest !== item.recordedDigest)
    say(item.requestId, 'claims a digest that differs from the recorded one');
}

/** Checks a pack. Returns what does not hold; nothing if everything does. */
export async function verify(file) {
  const problems = [];
  const say = (path, message) => problems.push({ path, message });
  let [root, signature] = [null, null];
  try {
    const files = readZip(file);
    for (const name of files.keys()) if (!ownNames.test(name)) say(name, 'does not belong in a pack');
    const text = new TextDecoder('utf-8', { fatal: true }).decode(files.get('manifest.json') ?? new Uint8Array());
    const manifest = JSON.parse(text);
    if (canonical(manifest) !== text) say('manifest.json', 'is not canonical JSON (RFC 8785)');
    if (manifest.format !== 'stemma-evidence-v1') say('manifest.json', `has the unknown format ${manifest.format}`);
    const { items, root: given, ...facts } = manifest;
    root = hex(await merkle([facts, ...items].map((leaf) => encoder.encode(canonical(leaf)))));
    if (root !== given) say('manifest.json', 'does not match its Merkle root');
    const refs = new Set(items.filter(({ kind }) => kind === 'object').map(({ ref }) => ref));
    const named = new Set(items.map(({ path }) => path));
    for (const name of files.keys()) if (!named.has(name) && !['manifest.json', 'signature.json'].includes(name)) say(name, 'is not in the manifest');
    for (const item of items) await checkItem(item, files, refs, say);
    if (files.has('signature.json')) {
      const signed = JSON.parse(new TextDecoder().decode(files.get('signature.json')));
      if (canonical(signed) !== new TextDecoder().decode(files.get('signature.json'))) say('signature.json', 'is not canonical JSON (RFC 8785)');
      const key = await crypto.subtle.importKey('spki', unbase64(signed.publicKey), 'Ed25519', false, ['verify']);
      const valid = await crypto.subtle.verify('Ed25519', key, unbase64(signed.signature), encoder.encode(`stemma-evidence-v1\n${root}`));
      signature = { publicKey: signed.publicKey, valid };
      if (!valid) say('signature.json', 'does not hold for this manifest');
    }
  } catch (error) {
    say('', error.message);
  }
  return { ok: problems.length === 0, digest: root, signature, problems };
}

if (typeof process !== 'undefined' && process.argv?.[1]?.endsWith('verify-evidence.mjs')) {
  const { readFileSync } = await import('node:fs');
  const result = await verify(new Uint8Array(readFileSync(process.argv[2])));
  console.log(JSON.stringify(result, null, 1));
  process.exitCode = result.ok ? 0 : 1;
}
