import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Verified } from '../../core/contract/index.js';
import { bold, dim, green, line, printJson, printText, red } from '../terminal/index.js';
import { addCall } from './call.js';
import { commitName, jsonOption, pathOption } from './command.js';
import { counted, size } from './numbers.js';

/** Adds `stemma evidence`, which writes packs of evidence, and `stemma verify`, which checks one with nothing but the file. */
export function addEvidenceCommands(program: Command): void {
  addCall(
    program,
    'evidence <ids...>',
    'write a file that proves what commits, calls and tickets held',
    'evidence.pack',
    ({ path, items, bytes, digest, signed }) =>
      printText(line`Wrote ${path} (${counted(items, 'item')}, ${size(bytes)})\nMerkle root ${digest}${signed ? ', signed' : ''}`),
    { ids: ['ids', (ids: string[]) => ids.map(commitName)], out: 'path' },
  )
    .requiredOption('-o, --out <file>', 'the new file', pathOption)
    .option('--key <file>', 'sign it with the Ed25519 private key in this PEM file', pathOption);
  program.command('verify <file>').description('check a pack of evidence; it needs no project').addOption(jsonOption()).action(showVerified);
}

async function showVerified(file: string, { json }: { json?: boolean }): Promise<void> {
  const { verifyFile } = await import('../../core/evidence/index.js');
  const found = verifyFile(resolve(file));
  if (!found.ok) process.exitCode = 1;
  if (json) printJson(found);
  else printVerified(found, file);
}

function printVerified(found: Verified, file: string): void {
  printText(found.ok ? green(bold('Everything holds.')) : red(bold('This pack was changed, or is no pack.')));
  if (found.digest !== null) printText(line`Merkle root ${found.digest}`);
  printText(found.signature ? line`Signature ${found.signature.valid ? 'valid' : 'NOT valid'}, key ${found.signature.publicKey}` : 'No signature.');
  if (found.items.length > 0) printText(dim(found.items.map(({ kind, count }) => counted(count, kind)).join(', ')));
  for (const { path, message } of found.problems) printText(line`${red(path || file)}: ${message}`);
}
