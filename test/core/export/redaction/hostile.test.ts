import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { redactJson, redactor, redactText } from '../../../../src/core/export/redact/index.js';
import { issuers } from '../../../../src/core/export/redact/rules/index.js';
import { some } from '../../../support/long.js';

const size = 256 * 1024;
/** Milliseconds of processor time for 256 KB. A quadratic rule takes a quarter of a minute. */
const maxMs = 6_000;

const units = [
  ...issuers.flatMap(({ prefixes: [first = ''] }, at) => (at % 5 === 0 ? [first] : [])),
  ...[
    'password=',
    'password="',
    'password="\\"',
    'PASSWORD=a,',
    'token:',
    "token='",
    'api_key=>',
    'key',
    '_pw',
    'auth ',
    '<password>',
    'name: TOKEN value',
    '--token ',
  ],
  ...[
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----\n',
    '-----END PRIVATE KEY-----\n',
    '-----BEGIN ',
    'PRIVATE KEY',
    'PuTTY-User-Key-File-2: ',
  ],
  ...['A'.repeat(64).concat('\n'), 'QUJD'.repeat(16).concat('\\n'), '\\n', '\\', '"', '\\"', "'", '`', '\n', ' ', '\t', '\r\n'],
  ...['eyJ', 'eyJ.', 'eyJhbGciOi.', '.', '-', '_', 'a', 'A1', 'a.', '1.', '1:', ':', '::', 'f:', '1.1.1.1.', 'ip-1-'],
  ...['://', '://a:', '://a:b@', 'https://', '@', 'a@', 'a@b.', '/home/', '/home/a', 'C:\\Users\\', '/Users/a/'],
  ...[
    'bearer ',
    'Bearer a',
    'Basic ',
    'Basic QUJD',
    'curl -u ',
    'curl ',
    'mysql -p',
    'sshpass -p ',
    'Cookie: ',
    'Cookie: a=b; ',
    'login ',
    'IDENTIFIED BY ',
    'curl -b ',
    'x=y; ',
  ],
  ...['cookie={', 'cookies={"a":"b",', 'Cookie","', 'sid="a"; ', 'AWS4-HMAC-SHA256 ', 'Digest response=', 'WIFI:', 'WIFI:P:a;', 'nmcli '],
  ...[
    '65, 66, ',
    '0x41, ',
    '01000001 ',
    '=41',
    '%u0041',
    '\\U00000041',
    '\\N{U+41}',
    'password: |\n\n',
    'pwd=<<A\n',
    'pwd=<<A\nA1b2C3d4\n',
    'PASSWORD="""\n',
    "token='''",
  ],
  ...['SECRET_KEY || "', 'setPassword("', 'name="password">', '<key>password</key>\n', 'name="password"\n\n', '<password><![CDATA['],
  ...['\\u0067', '\\\\u', '\\101', '%67', '%25', '&#103;', '&#', '&lowbar;', '\u200b', 'a\u200b', '\u001b[31m', '\u001b]8;;', 'x\b', '\ud835'],
  ...['"a" + ', "'a' 'b' ", '"a"\n', 'a\\\n', 'A1b2C3d4e5\n', 'gh p_ ', 'abcd ', 'a ', 'ab-', '_phg', 'xA1_phg'],
  ...[
    'kind: Secret\ndata:\n',
    'data:\n  a: b\n',
    'variable "password" {',
    'password: >\n',
    'token:\n  ',
    'seed phrase: ',
    'legal winner ',
    '["token","',
  ],
  ...['H4sI', 'H4sIAAAAAAAAA', 'UEsDBBQAAAAIAAAAIQBmYVxv', 'eJzLSM3JyQcABiwCFQ', `${'QUJD'.repeat(19)}\n`, `${'QUJD'.repeat(19)}\\n`],
  ...['Z2hwX2tLM2lJRWFSMURTMzBZ ', 'Z2hwX2tLM2lJRWFSMURTMzBZ', '6768705f', '67 68 ', 'a/-_', '\tTRUE\t/\tFALSE\t1\ta\tb'],
  ...['user,password\n', 'a,', '| password | x |\n', '| a ', 'password;', '| ---', '<tr><th>password</th>', '<tr', '<td>password', 'password  a  '],
  ...[
    "INSERT (a,password) VALUES (' ",
    'INSERT (password,a) VALUES (?,?)',
    'INSERT a ',
    'SET (',
    'CREATE TABLE a (',
    'CREATE TABLE a (token,b);INSERT INTO a VALUES (',
    'CREATE TABLE a(b,token /*',
    "CREATE TABLE a (b '",
    "INSERT INTO a VALUES (' ",
    "'a''",
    '["password","a"],[',
    '["a",',
    'COPY (token,a) FROM stdin\n',
  ],
  ...['echo a ', 'echo a|', 'echo "', 'passwd ', 'chpasswd <<< ', 'printf "', 'printf "password=%s" a ', '--password-stdin <<A\n', 'a b\\ '],
  ...['a:1234:a:a:', 'machine a ', 'login a ', 'auth=("a","', 'AUTH a', 'Credentials: a / ', 'secret 0 ', 'password to ', 'btoa("a:', '"a" & '],
  ...['hooks.slack.com/services/', '$2b$', '8Q~', ':AA', '1234567890:AA', '.atlasv1.', '-us1', 'M.', 'sk-', 'sk-a-', 'secretlint-disable\n'],
];

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Parts that some rule looks at closely: each alone for 256 KB. */
const alone = [
  'password=',
  'token:',
  'ghp_',
  '-----BEGIN PRIVATE KEY-----\n',
  'eyJ',
  '\\',
  '\\u',
  '\u200b',
  'A1b2C3d4e5\n',
  'a ',
  '6768705f',
  '://a:',
  'a@',
  'f:',
];
/** All others share texts of 256 KB, 32 KB each. */
const share = size / 8;

const texts = [
  ...alone.map((unit) => ({ name: JSON.stringify(unit), text: filled(unit, size) })),
  ...Array.from({ length: Math.ceil(units.length / 8) }, (_, at) => units.slice(at * 8, at * 8 + 8)).map((some) => ({
    name: some.map((unit) => JSON.stringify(unit.slice(0, 16))).join(' '),
    text: some.map((unit) => filled(unit, share)).join('\n'),
  })),
];

function filled(unit: string, length: number): string {
  return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}

describe('[T61] hostile texts of 256 KB', () => {
  test.each(some(texts, 2))('linear time for $name', async ({ text }) => {
    expect(await timeOf(() => redactText(text, redactor(new Map(), { ipAddresses: true })))).toBeLessThan(maxMs);
  });

  test('a file of 60,000 different addresses is redacted, each by its own placeholder', { tags: 'long' }, async () => {
    const addresses = Array.from({ length: 60_000 }, (_, at) => `user${at}@example.org`);
    const text = addresses.join('\n');
    const redact = redactor(new Map(), { ipAddresses: false });
    let left = '';
    expect(
      await timeOf(async () => {
        left = await redactText(text, redact);
      }),
    ).toBeLessThan(maxMs * 6);
    expect(left).not.toContain('@');
    expect(redact.made()).toHaveLength(addresses.length);
  });

  test('many secrets that begin alike do not make the search slow', { tags: 'long' }, async () => {
    const tokens = Array.from({ length: 20_000 }, (_, at) => `ghp_${'A1'.repeat(10)}${String(at).padStart(8, '0')}`);
    const text = `${tokens.join(' ')} ${'ghp_A1A1A1A1 '.repeat(50_000)}`;
    expect(await timeOf(() => redactText(text, redactor(new Map(), { ipAddresses: false })))).toBeLessThan(maxMs * 6);
  });

  test('compressed files that expand a thousand times cost little time; most are removed', { tags: 'long' }, async () => {
    const zeros = Buffer.alloc(250_000);
    const bombs = [gzipSync(zeros), deflateSync(zeros), zstdCompressSync(zeros)];
    const nested = gzipSync(bombs.map((bomb) => bomb.toString('base64')).join('\n'));
    // A fourth of the other texts: together, the files in it would still expand to 40 MB or more.
    const length = size / 4;
    for (const bomb of [...bombs, nested]) {
      const text = filled(`${bomb.toString('base64')}\n`, length);
      let left = '';
      const took = await timeOf(async () => {
        left = await redactText(text, redactor(new Map(), { ipAddresses: false }));
      });
      expect(took).toBeLessThan(maxMs);
      // What fits into the limit was searched and stays.
      expect(left.split(bomb.toString('base64')).length).toBeLessThan(12);
    }
    const many = filled(`${gzipSync(Buffer.alloc(4_000, 'password=')).toString('base64')}\n`, length);
    expect(await timeOf(() => redactText(many, redactor(new Map(), { ipAddresses: false })))).toBeLessThan(maxMs * 2);
  });

  test('JSON of deep and long strings is redacted in linear time', { tags: 'long' }, async () => {
    const json = JSON.stringify({ a: '\\"'.repeat(200_000), b: Array.from({ length: 20_000 }, (_, at) => ({ name: 'TOKEN', value: `v${at}` })) });
    expect(await timeOf(() => redactJson(json, redactor(new Map(), { ipAddresses: true })))).toBeLessThan(maxMs * 3);
  });
});
