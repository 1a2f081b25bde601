import { kindOfName, nameBeside } from './names.js';
import { isRandom, namedSpan, type TextSpan } from './span.js';
import { isSecretValue } from './values.js';

/** `"value": "…", "name": "PASSWORD"`: the value stands before its name. */
const valueFirst =
  /(?<![\w\\-])\\*["']value\\*["']\s{0,4}:\s{0,4}\\*["']([^\s"'\\]{4,4096})\\*["']\s{0,24},\s{0,24}\\*["'](?:name|key)\\*["']\s{0,4}:\s{0,4}\\*["']([\w.$-]{1,128})\\*["']/g;
/** `passwords:` above a list in YAML. Lists of `tokens` and `secrets` are mostly names. */
const listName = /(?<![^\s"'`])["']?[\w-]{0,64}(?:passwords|passphrases|api_?keys|(?:access|auth)_?tokens)["']?:[ \t]{0,8}(?=\r?\n[ \t]{0,64}- )/gi;
const listItem = /\r?\n[ \t]{0,64}- ["']?([^\s"'#:]{1,4096})["']?[ \t]{0,8}(?=\r?\n|$)/y;
/** `password = <<EOT`, the value on one line or on several, and the end of the document. */
const hereDocument =
  /(?<![\w.-])([\w.-]{1,128})["']?[ \t]{0,8}[=:][ \t]{0,8}<<[-~]?(\w{1,32})[ \t]{0,8}((?:\r?\n[ \t]{0,64}\S{4,4096}[ \t]{0,8}){1,64}?)\r?\n[ \t]{0,64}\2(?!\w)/g;

/** Secrets that stand before their name, in a list below it, or in a document that begins after it. Linear in the length of the text. */
export function* besideSecrets(text: string): Generator<TextSpan> {
  for (const { 0: all, 1: value = '', 2: name = '', index } of text.matchAll(valueFirst)) {
    const from = index + all.indexOf(value, all.indexOf(':'));
    if (isSecret(name, value)) yield namedSpan(text, from, from + value.length);
  }
  for (const { 0: name, index } of text.matchAll(listName)) {
    listItem.lastIndex = index + name.length;
    for (let item = listItem.exec(text); item; item = listItem.exec(text)) {
      const value = item[1] ?? '';
      const from = item.index + item[0].indexOf(value, item[0].indexOf('- ') + 2);
      if (isSecret(name.replaceAll(/["':\s]/g, '').slice(0, -1), value)) yield namedSpan(text, from, from + value.length);
    }
  }
  if (text.includes('<<'))
    for (const { 0: all, 1: name = '', 3: lines = '', index } of text.matchAll(hereDocument)) {
      const from = index + all.indexOf(lines);
      const values = [...lines.matchAll(/\S+/g)];
      const whole = values.map(([value]) => value).join('');
      if (isSecret(name, whole) && (values.length === 1 || isRandom(whole)))
        for (const { 0: value, index: at } of values) yield namedSpan(text, from + at, from + at + value.length);
    }
}

function isSecret(name: string, value: string): boolean {
  const kind = kindOfName(nameBeside(name));
  return kind !== undefined && isSecretValue(value, kind, 'quoted');
}
