import { createHash } from 'node:crypto';
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { writeZip } from '../../../../src/core/formats/index.js';
import { urlOf } from './fake.js';
import { addMore, moreOrdinary } from './more-shapes.js';
import { pngChunk } from './png.js';
import { addTables, tableOrdinary } from './table-shapes.js';

/** A field of a transcript in which a secret stands. */
export type Place =
  | 'text'
  | 'argument'
  | 'argument name'
  | 'argument named password'
  | 'argument list'
  | 'result'
  | 'thinking'
  | 'tool'
  | 'folder'
  | 'model'
  | 'title'
  | 'session'
  | 'media type'
  | 'PNG'
  | 'compressed text of PNG'
  | 'profile of PNG'
  | 'document'
  | 'two entries';

/** A secret, and the text around it. `secret` holds the characters that no export may show. */
export interface Shape {
  readonly name: string;
  readonly secret: string;
  readonly text: string;
  readonly place: Place;
}

const digits = '0123456789';
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const letters = upper + upper.toLowerCase();
const base32 = `${upper}234567`;
const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** Bytes from the number of STEMMA_PROPERTY_SEED, so that a failing secret fails again. */
let drawn = 0;
function randomBytes(length: number): Buffer {
  const parts = Array.from({ length: Math.ceil(length / 64) }, () =>
    createHash('sha512')
      .update(`${process.env.STEMMA_PROPERTY_SEED ?? ''} ${drawn++}`)
      .digest(),
  );
  return Buffer.concat(parts).subarray(0, length);
}
const random = (length: number, alphabet = letters + digits): string =>
  Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join('');
const hex = (length: number): string => randomBytes(length).toString('hex').slice(0, length);
const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');
const github = (): string => `ghp_${random(36)}`;
const escapedBy = (text: string, spell: (code: number) => string): string => [...text].map((one) => spell(one.charCodeAt(0))).join('');
const hexOf = (code: number, width = 2): string => code.toString(16).padStart(width, '0');
const groupsOf = (text: string, size: number): string => text.match(new RegExp(`.{1,${size}}`, 'g'))?.join(' ') ?? text;

/** Secrets with new values at each call, so that no rule can be tuned to them. */
export function shapes(): Shape[] {
  const made: Shape[] = [];
  const add = (name: string, secret: string, around: (secret: string) => string = (same) => same, place: Place = 'text'): void => {
    made.push({ name, secret, text: around(secret), place });
  };
  addTokens(add);
  addNamed(add);
  addLetters(add);
  addFiles(add);
  addCompressed(add);
  addEncoded(add);
  addPlaces(add);
  addMore({ add, random, hex, base64 });
  // All of them are tested alone. A few stand in every format.
  for (const [at, shape] of tableShapes().entries()) if (at % 24 === 0) made.push(shape);
  return made;
}

/** Secrets that something names from afar, with new values at each call. */
export function tableShapes(): Shape[] {
  const made: Shape[] = [];
  addTables({
    add: (name, secret, around = (same) => same) => made.push({ name, secret, text: around(secret), place: 'text' }),
    random,
    hex,
    base64,
  });
  return made;
}

type Add = (name: string, secret: string, around?: (secret: string) => string, place?: Place) => void;

function addTokens(add: Add): void {
  add('AWS access key', `AKIA${random(16, base32)}`);
  add('GitHub, fine-grained', `github_pat_${random(22)}_${random(59)}`);
  add('GitHub, OAuth', `gho_${random(36)}`);
  add('GitLab', `glpat-${random(20)}`);
  add('Slack bot', `xoxb-${random(12, digits)}-${random(12, digits)}-${random(24)}`);
  add('Slack app', `xapp-1-A${random(10)}-${random(13, digits)}-${hex(64)}`);
  add('Stripe', `sk_live_${random(24)}`);
  add('Stripe, restricted', `rk_live_${random(24)}`);
  add('OpenAI project', `sk-proj-${random(48)}T3BlbkFJ${random(48)}`);
  add('Anthropic admin', `sk-ant-admin01-${random(86)}AA`);
  add('Google client secret', `GOCSPX-${random(28)}`);
  add('Google refresh token', `1//0${random(60)}`);
  add('Google access token', `ya29.a0${random(120)}`);
  add('npm', `npm_${random(36)}`);
  add('PyPI', `pypi-AgEIcHlwaS5vcmc${random(100)}`);
  add('Hugging Face', `hf_${random(34)}`);
  add('hub token', `stm_${random(43)}`);
  add('hub token in a command', `stm_${random(43)}`, (s) => `stemma push --hub https://hub.corp.example/web --token ${s}`);
  add('share link', `stm_${random(43)}`, (s) => `https://hub.corp.example/share/web/${s}`);
  add('web host link', random(43), (s) => `Open http://127.0.0.1:4173/?token=${s}`);
  add('web host link with a hyphen', `-${random(40)}_`, (s) => `Open http://127.0.0.1:4173/?token=${s} now`);
  add('JSON Web Token', [base64('{"alg":"HS256"}'), base64(`{"sub":"${random(8)}"}`), random(43)].join('.').replaceAll('=', ''));
  add('Telegram', `${random(9, '123456789')}:AA${random(33)}`);
  add('Discord', `M${random(25)}.${random(6)}.${random(38)}`);
  add('SendGrid', `SG.${random(22)}.${random(43)}`);
  add('age', `AGE-SECRET-KEY-1${random(58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L')}`);
  add('Bitcoin key', `5${random(50, base58)}`, (s) => `wif ${s}`);
  add('Bitcoin key, compressed', `K${random(51, base58)}`, (s) => `import ${s} into the wallet`);
  add('extended private key', `xprv9${random(106, base58)}`);
}

function addNamed(add: Add): void {
  add('AWS secret, environment', random(40), (s) => `AWS_SECRET_ACCESS_KEY=${s}`);
  add('AWS secret, file', random(40), (s) => `[default]\naws_access_key_id = x\naws_secret_access_key = ${s}`);
  add('AWS session', random(300), (s) => `export AWS_SESSION_TOKEN="${s}"`);
  add('Twilio', hex(32), (s) => `TWILIO_AUTH_TOKEN=${s}`);
  add('one-time password seed', random(32, base32), (s) => `otpauth://totp/x?secret=${s}&issuer=y`);
  const phrase = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
  add('seed phrase', phrase, (s) => `mnemonic: ${s}`);
  add('seed phrase, named in words', phrase, (s) => `Recovery phrase: ${s}.`);
  add(
    'seed phrase, numbered',
    phrase,
    (s) =>
      `seed phrase:\n${s
        .split(' ')
        .map((word, at) => `${at + 1}. ${word}`)
        .join('\n')}\n`,
  );
  add('password in a URL', random(16), (s) => `git clone https://alice:${s}@git.corp.example/x.git`);
  add('PostgreSQL', random(18), (s) => `postgres://app:${s}@db:5432/x`);
  add('Redis without a user', random(18), (s) => `redis://:${s}@cache:6379/0`);
  add('MongoDB', random(14), (s) => `mongodb+srv://u:${s}@c.mongodb.net/x`);
  add('AMQP', random(14), (s) => `amqps://u:${s}@mq/x`);
  add('password with escapes in a URL', `p%40ss${random(12)}`, (s) => `postgres://a:${s}@h/x`);
  add('SQL Server', random(14), (s) => `Server=tcp:x;Database=y;User ID=z;Password=${s};Encrypt=True;`);
  add(
    'Azure storage',
    base64(randomBytes(64)),
    (s) => `DefaultEndpointsProtocol=https;AccountName=x;AccountKey=${s};EndpointSuffix=core.windows.net`,
  );
  add('Azure SAS', encodeURIComponent(base64(randomBytes(32))), (s) => `${urlOf('x.blob.core.windows.net')}/c?sv=2024-01-01&ss=b&sig=${s}`);
  add('signed URL of S3', hex(64), (s) => `${urlOf('b.s3.amazonaws.com')}/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=${s}`);
  add('header x-api-key', random(32), (s) => `curl -H 'x-api-key: ${s}' https://api`);
  add('header X-Auth-Token', random(32), (s) => `X-Auth-Token: ${s}`);
  add('Proxy-Authorization', base64(`u:${random(12)}`), (s) => `Proxy-Authorization: Basic ${s}`);
  add('second cookie', random(40), (s) => `Cookie: theme=dark; sessionid=${s}; a=b`);
  add('cookie after many', random(40), (s) => `Cookie: ${'lang=en; '.repeat(60)}session=${s}`);
  add('Set-Cookie', random(40), (s) => `Set-Cookie: a=b; Path=/\nSet-Cookie: connect.sid=${s}; HttpOnly`);
  add('cookie of curl', random(32), (s) => `curl -b 'lang=de; JSESSIONID=${s}' https://x`);
  add('curl, user', random(14), (s) => `curl -u admin:${s} https://x`);
  add('sshpass', random(14), (s) => `sshpass -p '${s}' ssh root@x`);
  add('mysql', random(14), (s) => `mysql -uroot -p${s} db`);
  add('PGPASSWORD', random(14), (s) => `PGPASSWORD=${s} psql -h x`);
  add('docker login', random(20), (s) => `docker login -u x -p ${s} ghcr.io`);
  add('JSON password', random(12), (s) => `{"user":"x","password":"${s}"}`);
  add('nested JSON', random(24), (s) => JSON.stringify({ body: JSON.stringify({ client_secret: s }) }));
  add('Python', random(24), (s) => `client = Client(api_key="${s}")`);
  add('Go', random(24), (s) => `const apiSecret = "${s}"`);
  add('properties', random(14), (s) => `spring.datasource.password=${s}`);
  add('XML', random(14), (s) => `<server><username>x</username><password>${s}</password></server>`);
}

/** Passwords without a digit, where a value without quotes could be the name of a variable. */
function addLetters(add: Add): void {
  for (const [of, alphabet] of [
    ['letters', letters],
    ['small letters', upper.toLowerCase()],
  ] as const) {
    const word = (): string => random(14, alphabet);
    add(`properties, ${of}`, word(), (s) => `spring.datasource.password=${s}`);
    add(`properties in a string, ${of}`, word(), (s) => `write("app.properties", "spring.datasource.password=${s}")`);
    add(`second of two settings, ${of}`, word(), (s) => `connect "host=db user=app password=${s}"`);
    add(`JSON, ${of}`, word(), (s) => `{"user":"x","password":"${s}"}`);
    add(`XML, ${of}`, word(), (s) => `<server><username>x</username><password>${s}</password></server>`);
    add(`SQL Server, ${of}`, word(), (s) => `Server=tcp:x;Database=y;User ID=z;Password=${s};Encrypt=True;`);
    add(`URL, ${of}`, word(), (s) => `postgres://app:${s}@db:5432/x`);
    add(`YAML, ${of}`, word(), (s) => `database:\n  username: x\n  password: ${s}\n`);
    add(`YAML, folded, ${of}`, word(), (s) => `database:\n  username: x\n  password: >-\n    ${s}`);
    add(`environment, ${of}`, word(), (s) => `PGPASSWORD=${s} psql -h x`);
    add(`curl, ${of}`, word(), (s) => `curl -u admin:${s} https://x`);
    add(`sshpass, ${of}`, word(), (s) => `sshpass -p '${s}' ssh root@x`);
    add(`mysql, ${of}`, word(), (s) => `mysql -uroot -p${s} db`);
    add(`docker login, ${of}`, word(), (s) => `docker login -u x -p ${s} ghcr.io`);
    add(`netrc, ${of}`, word(), (s) => `machine github.com login alice password ${s}`);
  }
}

/** Files that are packed, as programs print them. */
function addCompressed(add: Add): void {
  const lines = (packed: Buffer): string => packed.toString('base64').replaceAll(/.{76}/g, '$&\n');
  const note = (secret: string): string => `the token is ${secret} and nobody else has it`;
  const env = (secret: string): string => `DB_PASSWORD=${secret}\n${Array.from({ length: 40 }, (_, at) => `A${at}=${hex(8)}`).join('\n')}\n`;
  for (const [name, pack] of [
    ['gzip', gzipSync],
    ['zlib', deflateSync],
    ['Zstandard', zstdCompressSync],
    ['ZIP', (text: string) => Buffer.from(writeZip([{ name: 'word/document.xml', content: Buffer.from(text) }]))],
  ] as const) {
    add(`base64 of ${name}`, github(), (s) => `echo ${Buffer.from(pack(note(s))).toString('base64')} | base64 -d`);
    add(`hex of ${name}`, github(), (s) => `xxd -r -p <<< ${Buffer.from(pack(note(s))).toString('hex')}`);
    add(`lines of base64 of ${name}`, random(24), (s) => `$ base64 .env.packed\n${lines(Buffer.from(pack(env(s))))}\n$`);
    if (name !== 'Zstandard')
      add(
        `base64 of ${name}, cut off`,
        github(),
        (s) =>
          `${pack(`${s}\n${random(600)}`)
            .toString('base64')
            .slice(0, 500)}… (truncated)`,
      );
  }
  add('gzip in gzip', github(), (s) => gzipSync(gzipSync(note(s))).toString('base64'));
  add('gzip of base64 of gzip', github(), (s) => gzipSync(gzipSync(note(s)).toString('base64')).toString('base64'));
}

function addFiles(add: Add): void {
  const pem = (label: string, body: string): string => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----`;
  add('Google service account', random(64), (s) =>
    JSON.stringify({ type: 'service_account', private_key_id: hex(40), private_key: `${pem('PRIVATE KEY', s)}\n` }),
  );
  add('netrc', random(20), (s) => `machine github.com login alice password ${s}`);
  add('npmrc', random(36), (s) => `//registry.example/:_authToken=${s}`);
  add('npmrc, basic', base64(`u:${random(20)}`), (s) => `//reg.example/:_auth=${s}`);
  add('docker configuration', base64(`u:${random(20)}`), (s) => JSON.stringify({ auths: { 'ghcr.io': { auth: s } } }));
  add('kube configuration', random(60), (s) => `users:\n- name: x\n  user:\n    token: ${s}`);
  add('Kubernetes secret', base64(random(24)), (s) => `apiVersion: v1\nkind: Secret\ndata:\n  password: ${s}`);
  add('Kubernetes secret with another name', base64(random(24)), (s) => `apiVersion: v1\nkind: Secret\ntype: Opaque\ndata:\n  mail.conf: ${s}\n`);
  add('Kubernetes secret before its kind', random(24), (s) => `stringData:\n  main: "${s}"\nkind: Secret\nmetadata:\n  name: a\n`);
  add('Terraform', random(24), (s) => `variable "db_password" {\n  default = "${s}"\n}`);
  add('Terraform with a description', random(24), (s) => `variable "api_token" {\n  type = string\n  description = "for it"\n  default = "${s}"\n}`);
  add('YAML, folded', random(24), (s) => `database:\n  username: x\n  password: >-\n    ${s}`);
  add('YAML, literal', random(24), (s) => `api:\n  client_secret: |\n    ${s}\n  region: eu`);
  add('YAML, literal of two lines', random(40), (s) => `token: |2-\n      ${s.slice(0, 20)}\n      ${s.slice(20)}\nregion: eu`);
  add('YAML, on the next line', random(24), (s) => `database:\n  password:\n    ${s}\n  user: x`);
  add('EC key', random(64), (s) => pem('EC PRIVATE KEY', `${s}\n${random(64)}`));
  add('numbered key', random(64), (s) => `     1\t-----BEGIN RSA PRIVATE KEY-----\n     2\t${s}\n     3\t-----END RSA PRIVATE KEY-----`);
  add('OpenSSH key', random(70), (s) => pem('OPENSSH PRIVATE KEY', s));
}

function addEncoded(add: Add): void {
  add('base64', base64(github()), (s) => `echo ${s} | base64 -d`);
  add('base64 of an env file', base64(`DB_PASSWORD=${random(20)}\nPORT=1\n`), (s) => `env: ${s}`);
  add('base64url', Buffer.from(`key ${github()}?>`).toString('base64url'));
  add('base64 twice', base64(base64(github())));
  add('hex', Buffer.from(github()).toString('hex'));
  add('hex with spaces', Buffer.from(github()).toString('hex').match(/../g)?.join(' ') ?? '');
  add('after an escape of a URL', github(), (s) => `https://x/?q=token%3D${s}`);
  add('reversed', [...github()].reverse().join(''));
  add('\\u0041', github(), (s) => `"${escapedBy(s, (code) => `\\u${hexOf(code, 4)}`)}"`);
  add('\\u{41}', github(), (s) => `"${escapedBy(s, (code) => `\\u{${hexOf(code)}}`)}"`);
  add('\\\\u0041', github(), (s) => `"${escapedBy(s, (code) => `\\\\u${hexOf(code, 4)}`)}"`);
  add('\\x41', github(), (s) => escapedBy(s, (code) => `\\x${hexOf(code)}`));
  add('\\101', github(), (s) => `$'${escapedBy(s, (code) => `\\${code.toString(8)}`)}'`);
  add('%41', github(), (s) => escapedBy(s, (code) => `%${hexOf(code)}`));
  add('%2541', github(), (s) => escapedBy(s, (code) => `%25${hexOf(code)}`));
  add('&#x41;', github(), (s) => escapedBy(s, (code) => `&#x${hexOf(code)};`));
  add('&#65;', github(), (s) => escapedBy(s, (code) => `&#${code};`));
  add('one escaped character', github(), (s) => s.replace('_', '&lowbar;'));
  add('one percent escape', github(), (s) => s.replace('_', '%5F'));
  add('escaped password', `${random(8)}-${random(12)}`, (s) => `password=${escapedBy(s, (code) => `\\x${hexOf(code)}`)}`);
  for (const [name, between] of [
    ['zero-width space', '\u200b'],
    ['zero-width joiner', '\u200d'],
    ['byte order mark', '\ufeff'],
    ['soft hyphen', '\u00ad'],
    ['color', '\u001b[31m'],
    ['escaped color', '\\u001b[0;31m'],
    ['hyperlink', '\u001b]8;;\u0007'],
    ['backspace of a printer', 'x\b'],
    ['NUL', '\0'],
    ['variation selector', '\ufe0f'],
  ] as const)
    add(`${name} inside`, github(), (s) => s.slice(0, 10) + between + s.slice(10));
  add('zero-width space in the prefix', github(), (s) => `gh\u200b${s.slice(2)}`);
  add('zero-width spaces everywhere', github(), (s) => [...s].join('\u200b'));
  add('full-width letters', github(), (s) => escapedBy(s, (code) => String.fromCharCode(code + 0xfee0)));
  add('wrapped at 80', `sk-ant-api03-${random(93)}`, (s) => `${s.slice(0, 60)}\n${s.slice(60)}`);
  add('wrapped with an indent', `sk-ant-api03-${random(93)}`, (s) => `the key is  ${s.slice(0, 60)}\n    ${s.slice(60)}`);
  add('wrapped in a narrow terminal', github(), (s) => `${s.slice(0, 14)}\n${s.slice(14)}`);
  add('wrapped in a string', `sk-ant-api03-${random(93)}`, (s) => `"${s.slice(0, 60)}\\n${s.slice(60)}"`);
  add('joined strings', github(), (s) => `"${s.slice(0, 18)}" + "${s.slice(18)}"`);
  add('joined strings, in the prefix', github(), (s) => `'gh' + '${s.slice(2)}'`);
  add('joined strings over lines', github(), (s) => `token = (\n  "${s.slice(0, 18)}"\n  "${s.slice(18)}"\n)`);
  add('joined strings of PHP', github(), (s) => `$t = '${s.slice(0, 9)}' . '${s.slice(9)}';`);
  add('joined lines of a shell', github(), (s) => `export T=${s.slice(0, 18)}\\\n${s.slice(18)}`);
  add('spaces between', github(), (s) => groupsOf(s, 4));
  add('spaces between characters', github(), (s) => groupsOf(s, 1));
  add('hyphens between', github(), (s) => groupsOf(s, 5).replaceAll(' ', '-'));
}

function addPlaces(add: Add): void {
  const places: readonly Place[] = [
    ...(['argument', 'argument name', 'result', 'thinking', 'tool', 'folder', 'model', 'title', 'session', 'media type'] as const),
    ...(['PNG', 'compressed text of PNG', 'profile of PNG', 'document', 'two entries'] as const),
  ];
  for (const place of places) add(`in: ${place}`, github(), undefined, place);
  add('in: argument named password', random(20), undefined, 'argument named password');
  add('in: argument list', random(20), undefined, 'argument list');
}

/** Texts that redaction leaves unchanged. */
export function ordinary(): string[] {
  const words = 'the list of tokens in a context is short and the password field stays empty while key presses move secret santa'.split(' ');
  const shuffled = (): string =>
    words
      .toSorted(() => 0.5 - Math.random())
      .slice(0, 9)
      .join(' ');
  const many = Array.from({ length: 40 }, () => [hex(40), hex(64), crypto.randomUUID(), `sha256:${hex(64)}`, shuffled()]).flat();
  return [
    ...many,
    ...moreOrdinary({ hex, random }),
    ...tableOrdinary({ hex, random }),
    ...['max_tokens: 4096', 'tokenCount=1234', 'const token = tokens[i]', 'password: string', 'if (!password) throw'],
    ...['api_key = os.environ["API_KEY"]', 'PASSWORD=$PASSWORD', 'key: value', 'primaryKey: true', 'ctx-3f9a12c4', 'sk-learn'],
    ...[`public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${random(43)}`, `blake3:${hex(64)}`, `data:image/png;base64,${random(60)}`],
    ...[`git commit ${hex(40)}`, 'Bearer of bad news', 'Authorization: required', 'token budget 200000', 'secretName: my-secret'],
    ...['passwordHash(user)', 'foreign key (user_id)', 'keyboard shortcuts', `integrity sha512-${base64(randomBytes(64))}`, `ETag: "${hex(32)}"`],
    ...[`X-Request-Id: ${crypto.randomUUID()}`, 'http://localhost:3000/a?b=c', '/usr/local/bin/node', 'v1.2.3-beta.4+build.5', 'tkt-d05f'],
    ...[`toolu_01${random(22)}`, `msg_01${random(22)}`, `call_${random(24)}`, `req_${random(24)}`, `chatcmpl-${random(29)}`, 'session 0f9b-11'],
    ...['AKIA in a sentence', 'ghp_ prefix', 'xoxb tokens', 'type Token = { kind: "word" }', 'tokens.map((token) => token.text)'],
    ...[
      `"a" + "b"`,
      `'${hex(20)}' + '${hex(20)}'`,
      base64('an ordinary text without anything to hide, in base64'),
      Buffer.from('an ordinary text').toString('hex'),
    ],
    ...['kind: Secret\nmetadata:\n  name: my-secret', 'kind: ConfigMap\ndata:\n  color: turquoise', 'variable "db_password" {\n  type = string\n}'],
    ...[
      'caf\\u00e9 &amp; bar%20baz \\x1b[31mred',
      'a\u200bb',
      'password: |\n',
      'password:\n  type: string\n  minLength: 8',
      'one two three four five',
    ],
    ...[
      'Cookie: theme=dark; lang=en',
      'mnemonic: a word that helps to remember',
      `tkt-${hex(24)}`,
      `"id":"${hex(24)}"`,
      `${hex(8)} ${hex(8)} ${hex(8)} ${hex(8)}`,
    ],
  ];
}

/** A PNG of one pixel with a text chunk. */
export function pngWith(text: string, place: Place = 'PNG'): Buffer {
  const header = Buffer.from('0000000100000001080000000000000000'.slice(0, 26), 'hex');
  const content: [string, Buffer] =
    place === 'PNG'
      ? ['tEXt', Buffer.from(`Comment\0${text}`, 'latin1')]
      : [place === 'profile of PNG' ? 'iCCP' : 'zTXt', Buffer.concat([Buffer.from('Comment\0\0'), deflateSync(text)])];
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk(...content),
    pngChunk('IDAT', deflateSync(Buffer.from([0, 0]))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}
