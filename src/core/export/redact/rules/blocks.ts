import { isPlaceholder } from './placeholders.js';
import { findMatches, findValues, namedSpan, runEnd, secretSpan, type TextSpan } from './span.js';

/** Secrets in files whose structure says what is secret: Kubernetes secrets, JSON Web Keys, and phrases of wallets. Linear. */
export function* blockSecrets(text: string): Generator<TextSpan> {
  if (text.includes('Secret')) yield* kubernetesSecrets(text);
  for (const { from, to } of findValues(text, keyMember, 'kty')) yield secretSpan(from, to);
  yield* seedPhrases(text);
}

/** A member of a JSON Web Key that holds a private number or a key. */
const keyMember = /(?<![\w-])\\*["'](?:d|p|q|dp|dq|qi|k)\\*["']\s{0,4}:\s{0,4}\\*["']([\w-]{20,4096})\\*["']/g;

const kindLine = /(?:^|[\n{,"'`]|\\n)[ \t]*\\*["']?kind\\*["']?[ \t]{0,4}:[ \t]{0,4}\\*["']?Secret\\*["']?[ \t]*(?:\r?\n|\\{1,8}n|[,}]|$)/;
const yamlBlock = /(?:^|[\n"'`]|\\n)([ \t]*)(?:data|stringData):[ \t]*(?=\r?\n|\\{1,8}n)/g;
const yamlLine =
  /(?:\r?\n|\\{1,8}n)([ \t]*)(?:([^\s:#][^:\n\\]{0,128}):[ \t]{0,8})?(?:[>|][-+\d]{0,2}|\\*["']?([^\s"'\\#][^\n"'\\]{0,8192})?)\\*["']?[ \t]*(?=\r?\n|\\{1,8}n|$)/y;
const jsonBlock = /(?<!\\)\\*"(?:data|stringData)\\*"\s{0,8}:\s{0,8}\{([^{}]{0,65536})\}/g;
const jsonPair = /(?<!\\)\\*"[^"\\]{1,128}\\*"\s{0,4}:\s{0,8}\\*"([^"\\]{1,8192})\\*"/g;

/** Every value of a document `kind: Secret`, whatever its name is. */
function* kubernetesSecrets(text: string): Generator<TextSpan> {
  let at = 0;
  for (const doc of text.split(/(?<=\n)(?=---)/)) {
    if (kindLine.test(doc)) yield* valuesInDocument(text, at, doc);
    at += doc.length;
  }
}

function* valuesInDocument(text: string, at: number, doc: string): Generator<TextSpan> {
  for (const { 0: start, 1: indent = '', index } of findMatches(doc, yamlBlock, 'ata:')) {
    let place = index + start.length;
    for (;;) {
      yamlLine.lastIndex = place;
      const line = yamlLine.exec(doc);
      if (!line || (line[1]?.length ?? 0) <= indent.length) break;
      const value = line[3]?.trimEnd() ?? '';
      place = yamlLine.lastIndex;
      const from = at + line.index + line[0].lastIndexOf(value);
      if (value.length >= 4 && !isPlaceholder(value)) yield namedSpan(text, from, from + value.length);
    }
  }
  for (const { 1: members = '', 0: all, index } of findMatches(doc, jsonBlock, 'ata'))
    for (const { 1: value = '', 0: pair, index: inner } of members.matchAll(jsonPair)) {
      const from = at + index + all.lastIndexOf(members) + inner + pair.lastIndexOf(value);
      if (value.length >= 4 && !isPlaceholder(value)) yield namedSpan(text, from, from + value.length);
    }
}

const phraseName = /\b(?:mnemonic|(?:seed|recovery|backup|wallet|secret)[ _-]?(?:phrase|words))(?:[ _-]?phrase)?\b/gi;
const phraseSign = /(?:\\*["'`*]){0,2}[ \t]{0,4}(?:is|are|[:=])?(?:\s|\\{1,8}n|\\*["'`*]){0,8}/y;
const phraseWord = /(?:\d{1,2}[.):]?[ \t]{1,4})?[a-z]{3,8}\b/y;
const phraseSpace = /(?:[ \t,]|\r?\n|\\+n){1,6}/y;
/** The numbers of words that a phrase of a wallet has. */
const phraseLengths = new Set([12, 15, 18, 21, 24, 25]);

/** The words of a wallet after `seed phrase:` and its like, also in numbered lines. Prose almost always has a shorter word among twelve. */
function* seedPhrases(text: string): Generator<TextSpan> {
  for (const { 0: name, index } of findMatches(text, phraseName, '')) {
    const from = runEnd(text, index + name.length, phraseSign);
    let to = from;
    let count = 0;
    for (let place = from; count < 25; count++) {
      const end = runEnd(text, place, phraseWord);
      if (end === place) break;
      to = end;
      place = runEnd(text, end, phraseSpace);
      if (place === end) {
        count++;
        break;
      }
    }
    if (phraseLengths.has(count)) yield { from, to, kind: 'secret', spreads: true };
  }
}
