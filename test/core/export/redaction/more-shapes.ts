import { deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { type RawEntry, rawZip } from '../../../support/zips.js';
import { fake, urlOf } from './fake.js';
import type { Place } from './shapes.js';

/** What makes the values of a shape. */
export interface Maker {
  add(name: string, secret: string, around?: (secret: string) => string, place?: Place): void;
  random(length: number, alphabet?: string): string;
  hex(length: number): string;
  base64(text: string | Buffer): string;
}

const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const small = upper.toLowerCase();
const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Further shapes: newer tokens, and other notations of what the first list has. */
export function addMore(maker: Maker): void {
  newerTokens(maker);
  webTokens(maker);
  addresses(maker);
  privateKeys(maker);
  commands(maker);
  cookies(maker);
  blocks(maker);
  places(maker);
  spellings(maker);
  pieces(maker);
  files(maker);
}

/** Tokens whose parts stand in events of a stream, between tags, or beside characters that nobody sees; and further notations. */
function pieces({ add, random }: Maker): void {
  const github = (): string => `ghp_${random(36)}`;
  const parts = (text: string, count: number): string[] => text.match(new RegExp(`.{1,${Math.ceil(text.length / count)}}`, 'g')) ?? [];
  const stream = (name: string, event: (part: string) => string): void => {
    for (const count of [2, 3]) add(`stream: ${name}, ${count} parts`, github(), (s) => parts(s, count).map(event).join(''));
    const whole = github();
    add(`stream: ${name}, in its prefix`, whole.slice(2), (s) => event(`it is ${whole.slice(0, 2)}`) + event(`${s} and more`));
  };
  stream('Anthropic', (text) => `event: content_block_delta\ndata: ${JSON.stringify({ index: 0, delta: { type: 'text_delta', text } })}\n\n`);
  stream('OpenAI', (content) => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }] })}\n\n`);
  stream('arguments', (part) => `data: ${JSON.stringify({ delta: { type: 'input_json_delta', partial_json: part } })}\n\n`);
  stream('lines', (text) => `${JSON.stringify({ type: 'chunk', text })}\n`);
  stream('items in a string', (text) => JSON.stringify(JSON.stringify({ text })).slice(1, -1));
  const between = (name: string, mark: string): void => add(`between: ${name}`, random(30), (s) => `ghp_${random(6)}${mark}${s}`);
  for (const [name, mark] of [
    ['a musical sign', '\u{1d173}'],
    ['a sign of shorthand', '\u{1bca0}'],
    ['a note in a line', '\ufff9'],
    ['an enclosing circle', '\u20dd'],
    ['a Cyrillic mark', '\u0483'],
    ['a mark above', '\u1ab0'],
    ['a line separator', '\u2028'],
    ['a tag', '<wbr>'],
    ['tags', '</span><span class="x">'],
    ['a comment', '<!-- -->'],
    ['stars', '**'],
    ['a soft line break of mail', '=\n'],
    ['quotes of a shell', '""'],
  ] as const)
    between(name, mark);
  const put = (name: string, around: (secret: string) => string): void => add(`notation: ${name}`, random(20), around);
  put('Markdown, strong name', (s) => `- **API key**: \`${s}\``);
  put('Markdown, strong name and colon', (s) => `**Password:** ${s}`);
  put('property of C#', (s) => `public string ApiKey { get; set; } = "${s}";`);
  put('item of DynamoDB', (s) => `{"id":{"N":"1"},"password":{"S":"${s}"}}`);
  put('name, type and value', (s) => `{"name":"DB_PASSWORD","type":"plain","value":"${s}"}`);
  put('part of a form with a type', (s) => `--b\r\nContent-Disposition: form-data; name="api_key"\r\nContent-Type: text/plain\r\n\r\n${s}\r\n--b--`);
  put('ipmitool', (s) => `ipmitool -I lanplus -H h -U a -P ${s} power status`);
  put('wpa_passphrase', (s) => `wpa_passphrase home ${s}`);
  put('remote desktop', (s) => `xfreerdp /u:ada /p:${s} /v:h`);
  put('NuGet', (s) => `nuget push a.nupkg -ApiKey ${s} -Source x`);
  put('Cargo', (s) => `cargo login ${s}`);
  put('mask of GitHub', (s) => `echo "::add-mask::${s}"`);
  put('parameter of AWS', (s) => `aws ssm put-parameter --name /db --value ${s} --type SecureString`);
  put('hex with 0x', (s) => `select 0x${Buffer.from(`DB_PASSWORD=${s}\nand more text`).toString('hex')}`);
  const cookie = (name: string, around: (secret: string) => string): void => add(`cookie: ${name}`, random(32), around);
  cookie('a list that a server sets', (s) => `{"set-cookie":["a=b; Path=/","x=${s}; Path=/"]}`);
  cookie('a recorded list', (s) => `{"cookies":[{"name":"a","value":"${s}","httpOnly":true}]}`);
  cookie('a folded header', (s) => `Cookie: a=b;\n x=${s}`);
  cookie('a jar of Python', (s) => `<Cookie x=${s} for h/>`);
}

function newerTokens({ add, random, hex, base64 }: Maker): void {
  add('GitHub, stateless', `ghs_${random(6, '123456789')}_${base64(`{"alg":"ES256","x":"${random(30)}"}`).replaceAll('=', '')}`);
  add('GitLab workspace', `glwt-${random(20)}`);
  add('Slack workflow', `xwfp-${random(12, '0123456789')}-${random(24)}`);
  add('Slack, rotated', `xoxe.xoxp-1-${random(140)}`);
  add('Stripe, organization', `sk_org_live_${random(60)}`);
  add('Stripe client secret', `pi_3${random(23)}_secret_${random(25)}`);
  add('OpenAI, ephemeral', `ek_${hex(32)}`);
  add('OpenAI session', `sess-${random(40)}`);
  add('Google, bound key', `AQ.Ab8RN6${random(44)}`);
  add('Google, HMAC', `GOOG1E${random(55, upper)}`);
  add('Cloudflare user', `cfut_${random(48)}`);
  add('Cloudflare account', `cfat_${random(48)}`);
  add('Buildkite', `bkua_${hex(40)}`);
  add('CircleCI', `CCIPAT_${random(22)}_${hex(40)}`);
  add('Neon password', `npg_${random(12)}`);
  add('Resend', `re_${random(8)}_${random(24)}`);
  add('HubSpot', `pat-na1-${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`);
  add('AppSync', `da2-${random(26, `${small}234567`)}`);
  add('Mailgun', `${hex(32)}-${hex(8)}-${hex(8)}`);
  add('Weights & Biases', `wandb_v1_${random(60)}`);
  add('Azure OpenAI', `${random(52)}JQQJ99${random(26)}`);
  add('Azure DevOps', `${random(76)}AZDO${random(4)}`);
  add('Azure storage, alone', `${random(76)}+ASt${random(5)}Q==`);
  add('Azure search', `${random(42)}AzSeA${random(5)}`);
  add('Firebase server', `AAAA${random(7)}:APA91b${random(134)}`);
  add('webhook of Feishu', hex(32), (s) => `${urlOf('open.feishu.cn')}/open-apis/bot/v2/hook/${s}`);
}

function webTokens({ add, random, base64 }: Maker): void {
  const bare = (text: string): string => base64(text).replaceAll('=', '').replaceAll('+', '-').replaceAll('/', '_');
  for (const [name, header] of [
    ['spaces', '{ "alg": "HS256", "typ": "JWT" }'],
    ['line breaks', '{\n  "alg": "HS256",\n  "typ": "JWT"\n}'],
    ['line breaks of Windows', '{\r\n  "typ": "JWT",\r\n  "alg": "RS256"\r\n}'],
    ['tabs', '{\t"alg": "none"}'],
  ] as const)
    add(`JSON Web Token, header with ${name}`, `${bare(header)}.${bare(`{ "sub": "${random(8)}" }`)}.${random(43)}`);
  const key = (): string => random(43);
  add('JSON Web Key, private', key(), (s) => `{"kty":"EC","crv":"P-256","x":"${random(43)}","y":"${random(43)}","d":"${s}"}`);
  add('JSON Web Key, symmetric', key(), (s) => `{"kty":"oct","k":"${s}","alg":"HS256"}`);
  add('JSON Web Key, in a string', key(), (s) => JSON.stringify({ body: JSON.stringify({ kty: 'OKP', d: s, crv: 'Ed25519' }) }));
}

function addresses({ add, random }: Maker): void {
  const at = (): string => `${random(6)}@${random(8)}`;
  add('PostgreSQL, @ in the password', at(), (s) => `postgres://app:${s}@db:5432/x`);
  add('HTTP, two @ in the password', `${at()}@${random(4)}`, (s) => `https://alice:${s}@git.corp.example/x.git`);
  add('PostgreSQL, / in the password', `${random(6)}/${random(8)}`, (s) => `postgresql://app:${s}@db:5432/x`);
  add('MySQL, # in the password', `${random(6)}#${random(8)}`, (s) => `mysql+pymysql://app:${s}@db/x`);
  add('Redis, ? in the password', `${random(6)}?${random(8)}`, (s) => `rediss://:${s}@cache:6379/0`);
  add('MySQL of Go', random(14), (s) => `db, err := sql.Open("mysql", "app:${s}@tcp(127.0.0.1:3306)/x?parseTime=true")`);
  add('SQLAlchemy', random(14), (s) => `create_engine('oracle+cx_oracle://app:${s}@db:1521/?service_name=x')`);
  add('signature of a content network', `${random(120)}__`, (s) => `${urlOf('cdn.example')}/a.mp4?Expires=1767225600&Signature=${s}&Key-Pair-Id=K2`);
}

function privateKeys({ add, random }: Maker): void {
  const body = (): string => random(64);
  const pem = (s: string): string => `-----BEGIN RSA PRIVATE KEY-----\n${s}\n${fake('', 64, 'base64')}\n-----END RSA PRIVATE KEY-----\n`;
  for (const [name, spell] of [
    ['CRLF', (text: string) => text.replaceAll('\n', '\r\n')],
    ['CRLF in a JSON string', (text: string) => JSON.stringify({ key: text.replaceAll('\n', '\r\n') })],
    ['CRLF in a string in a string', (text: string) => JSON.stringify(JSON.stringify({ key: text.replaceAll('\n', '\r\n') }))],
    ['\\u000a', (text: string) => `"${text.replaceAll('\n', '\\u000a')}"`],
    ['\\x0a', (text: string) => `'${text.replaceAll('\n', '\\x0a')}'`],
    ['%0A', (text: string) => `key=${text.replaceAll('\n', '%0A')}`],
    ['%0D%0A and %20', (text: string) => `key=${encodeURIComponent(text.replaceAll('\n', '\r\n'))}`],
    ['a form', (text: string) => `key=${new URLSearchParams({ '': text }).toString().slice(1)}&n=1`],
    ['&#10;', (text: string) => `<pre>${text.replaceAll('\n', '&#10;')}</pre>`],
    [
      'joined strings',
      (text: string) =>
        text
          .trimEnd()
          .split('\n')
          .map((line) => `'${line}\\n'`)
          .join(' +\n  '),
    ],
    ['a here-document with tabs', (text: string) => `cat <<-EOF\n${text.replaceAll(/^/gm, '\t')}EOF`],
  ] as const)
    add(`PEM with ${name}`, body(), (s) => spell(pem(s)));
  for (const [name, spell] of [
    ['\\u000a', (text: string) => `"${text.replaceAll('\n', '\\u000a')}"`],
    ['%0A', (text: string) => text.replaceAll('\n', '%0A').replaceAll(' ', '%20')],
  ] as const)
    add(`PEM with ${name}, cut off`, body(), (s) => spell(pem(s)).slice(0, 120));
  add(
    'SSH2',
    random(70),
    (s) => `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "key of a server"\n${s}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----`,
  );
  add('WireGuard', `${random(42)}8=`, (s) => `[Interface]\nPrivateKey = ${s}\nAddress = 10.0.0.2/32\n`);
  add('extended private key, testnet', `tprv8${random(106, base58)}`);
}

function commands({ add, random }: Maker): void {
  const letters = (): string => random(14, small);
  const put = (name: string, around: (secret: string) => string): void => {
    add(`command: ${name}`, random(14), around);
    add(`command: ${name}, letters`, letters(), around);
  };
  put('sudo', (s) => `echo ${s} | sudo -S apt-get install -y jq`);
  put('sudo with quotes', (s) => `echo '${s}' | sudo -kS -p '' ls`);
  put('chpasswd', (s) => `echo "ada:${s}" | sudo chpasswd`);
  put('htpasswd', (s) => `htpasswd -cb /etc/nginx/.htpasswd ada ${s}`);
  put('PowerShell', (s) => `$p = ConvertTo-SecureString -String "${s}" -AsPlainText -Force`);
  put('keytool', (s) => `keytool -genkey -alias a -keystore k.jks -storepass ${s} -keyalg RSA`);
  put('zip', (s) => `zip -r -P ${s} a.zip folder`);
  put('7z', (s) => `7z x archive.7z -p${s} -oout`);
  put('ldapsearch', (s) => `ldapsearch -x -H ldap://h -D cn=admin -w ${s} -b dc=x`);
  put('ssh-keygen', (s) => `ssh-keygen -t ed25519 -N "${s}" -f key`);
  put('mongosh', (s) => `mongosh -u root -p ${s} --authenticationDatabase admin`);
  put('sqlcmd', (s) => `sqlcmd -S localhost -U sa -P '${s}' -Q 'select 1'`);
  put('sqlplus', (s) => `sqlplus -s system/${s}@//db:1521/XE @run.sql`);
  put('smbclient', (s) => `smbclient //h/share -U ada%${s}`);
  put('net user', (s) => `net user ada ${s} /add`);
  put('gh secret', (s) => `gh secret set DEPLOY --body "${s}" --repo a/b`);
  add('command: aws configure', random(40), (s) => `aws configure set aws_secret_access_key ${s} --profile x`);
  add('command: npm configuration', random(36), (s) => `npm config set //registry.example/:_authToken ${s}`);
  add('command: pulumi', random(20), (s) => `pulumi config set --secret dbPassword ${s}`);
  add('command: ngrok', random(48), (s) => `ngrok config add-authtoken ${s}`);
  add('curl, user on a later line', random(14), (s) => `curl -sS \\\n  -X POST \\\n  -H 'Accept: */*' \\\n  -u admin:${s} \\\n  https://x`);
}

function cookies({ add, random, hex }: Maker): void {
  add(
    'cookies of a copied curl',
    random(40),
    (s) => `curl 'https://x/' \\\n  -H 'accept: */*' \\\n  -H 'user-agent: a b c' \\\n  -b 'theme=dark; sid=${s}'`,
  );
  add('session in a path', hex(32).toUpperCase(), (s) => `GET /app/list.do;jsessionid=${s}.node0?x=1`);
  add('session of PHP', random(26), (s) => `PHPSESSID=${s}; path=/`);
  add('cookie of a recorded browser', random(32), (s) => JSON.stringify({ cookies: [{ name: 'sessionid', value: s, domain: 'x', path: '/' }] }));
  add('third cookie of a header in JSON', random(32), (s) => `{"headers":{"Cookie":"a=b; lang=de; _session=${s}; c=d"}}`);
  add(
    'second Set-Cookie with CRLF',
    random(32),
    (s) => `HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/\r\nSet-Cookie: __Host-session=${s}; Secure\r\n\r\n`,
  );
}

function blocks({ add, random }: Maker): void {
  add('value before its name', random(20), (s) => `[{"value":"${s}","name":"DB_PASSWORD"}]`);
  add('YAML, list of passwords', random(20), (s) => `passwords:\n  - ${s}\n`);
  add('HCL, here-document', random(20), (s) => `password = <<EOT\n${s}\nEOT\n`);
  add('cookie of Puppeteer', random(24), (s) => `await page.setCookie({ name: 'sid', value: '${s}' });`);
  add('YAML, anchor', random(20), (s) => `a:\n  password: &pw ${s}\nb:\n  password: *pw\n`);
  add('YAML, tag', random(20), (s) => `a:\n  password: !!str ${s}\n`);
  add('YAML, tag and quotes', random(20), (s) => `a:\n  client_secret: !!str "${s}"\n`);
  add('YAML, literal with an anchor', random(20), (s) => `a:\n  token: &t |-\n    ${s}\n`);
  add('YAML, literal with a colon', `${random(8)}:${random(12)}`, (s) => `a:\n  password: |\n    ${s}\n  user: x\n`);
  add('YAML, literal with quotes', `${random(8)}"${random(12)}`, (s) => `a:\n  password: >-\n    ${s}\n  user: x\n`);
  add('YAML, literal with CRLF', random(20), (s) => `a:\r\n  password: |-\r\n    ${s}\r\n  user: x\r\n`);
  add('YAML, literal with a comment', random(20), (s) => `a:\n  password: | # rotate it\n    ${s}\n`);
}

/** What stands between a name and its value in files and programs. */
function places({ add, random, hex }: Maker): void {
  const put = (name: string, around: (secret: string) => string): void => add(name, random(20), around);
  put('XML, element with a name', (s) => `<property name="hibernate.connection.password">${s}</property>`);
  put('XML, element with a name and a type', (s) => `<entry key="db.password" type="x">${s}</entry>`);
  put('XML, CDATA', (s) => `<password><![CDATA[${s}]]></password>`);
  put('property list', (s) => `<key>password</key>\n\t<string>${s}</string>`);
  put('part of a form', (s) => `--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n${s}\r\n--b--`);
  put('append in a shell', (s) => `DB_PASSWORD+=${s}`);
  put('append in PowerShell', (s) => `$env:API_TOKEN += "${s}"`);
  put('lines in Terraform', (s) => `api_key = <<-EOT\n    ${s}\n  EOT`);
  add('lines in Terraform, two of one value', random(24), (s) => `secret_key = <<EOT\n${random(12)}\n${s}\nEOT\n`);
  put('setter', (s) => `config.setPassword("${s}");`);
  put('setter with underscores', (s) => `client.set_api_key('${s}')`);
  put('default in JavaScript', (s) => `const key = process.env.SECRET_KEY || "${s}";`);
  put('default in Python', (s) => `key = os.environ["SECRET_KEY"] or '${s}'`);
  put('string of bytes', (s) => `PASSWORD = b"${s}"`);
  put('raw string', (s) => `password = r'${s}'`);
  put('three quotes', (s) => `PASSWORD = """${s}"""`);
  put('three quotes with line breaks', (s) => `password = '''\n${s}\n'''`);
  put('constant of C', (s) => `#define API_KEY "${s}"`);
  put('Wi-Fi code', (s) => `WIFI:T:WPA;S:home;P:${s};;`);
  put('nmcli', (s) => `nmcli dev wifi connect home password ${s}`);
  put('LDAP', (s) => `binddn cn=admin\nbindpw ${s}\n`);
  add('signature of a request', hex(64), (s) => `Authorization: AWS4-HMAC-SHA256 Credential=x/y, SignedHeaders=host;x-amz-date, Signature=${s}`);
  add('answer to a challenge', hex(32), (s) => `Authorization: Digest username="u", realm="r", nonce="n", uri="/", response="${s}"`);
  add('YAML, literal after an empty line', random(20), (s) => `token: |\n\n  ${s}\n`);
  add('YAML, literal in a diff', random(20), (s) => `+  password: |\n+    ${s}\n+  user: x\n`);
  const cookie = (name: string, around: (secret: string) => string): void => add(`cookie: ${name}`, random(32), around);
  cookie('in quotes', (s) => `Cookie: a="b"; lang="de"; sid="${s}"`);
  cookie('an item of a list', (s) => JSON.stringify({ headers: [['cookie', `a=b; s=${s}`]] }));
  cookie('a tuple', (s) => `headers = [('Cookie', 'a=b; s=${s}')]`);
  cookie('a recorded header', (s) => JSON.stringify({ headers: [{ name: 'Cookie', value: `a=b; s=${s}` }] }));
  cookie('a recorded header in a string', (s) => JSON.stringify(JSON.stringify({ headers: [{ name: 'Cookie', value: `a=b; s=${s}` }] })));
  cookie('an object', (s) => `requests.get(url, cookies={'theme': 'dark', 'sessionid': '${s}'})`);
}

/** Codes of characters, as programs and mails write them. */
function spellings({ add, random }: Maker): void {
  const hexOf = (code: number, width = 2): string => code.toString(16).padStart(width, '0');
  const spell = (name: string, one: (code: number) => string, between = ''): void => {
    const letters = [...`ghp_${random(36)}`].map((letter) => one(letter.charCodeAt(0)));
    add(`spelled: ${name}`, letters.slice(8, -8).join(between), (s) => ['t = ', ...letters.slice(0, 8), s, ...letters.slice(-8)].join(between));
  };
  spell('%u0041', (code) => `%u${hexOf(code, 4)}`);
  spell('\\U00000041', (code) => `\\U${hexOf(code, 8)}`);
  spell('\\N{U+41}', (code) => `\\N{U+${hexOf(code)}}`);
  spell('\\0101', (code) => `\\0${code.toString(8)}`);
  spell('=41', (code) => `=${hexOf(code).toUpperCase()}`);
  spell('65, 66', String, ', ');
  spell('0x41, 0x42', (code) => `0x${hexOf(code)}`, ', ');
  spell('01000001 01000010', (code) => code.toString(2).padStart(8, '0'), ' ');
}

function files({ add, random, hex, base64 }: Maker): void {
  const github = (): string => `ghp_${random(36)}`;
  const note = (secret: string): string => `the token is ${secret} and nobody else has it`;
  const swapped = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
  add('base64 of a command of PowerShell', github(), (s) => `powershell -EncodedCommand ${base64(Buffer.from(`$env:T = '${s}'`, 'utf16le'))}`);
  add('base64 of UTF-16, other order', github(), (s) => base64(swapped(note(s))));
  const wide = (text: string): Buffer => Buffer.from([...text].flatMap((one) => [one.charCodeAt(0), 0, 0, 0]));
  add('base64 of UTF-32', github(), (s) => base64(wide(note(s))));
  add('base64 of UTF-32, other order', github(), (s) => base64(wide(note(s)).swap32()));
  add('base64 of text packed without a header', github(), (s) => base64(deflateRawSync(`<Assertion>${note(s)}</Assertion>`)));
  add('hex of UTF-16', github(), (s) => Buffer.from(note(s), 'utf16le').toString('hex'));
  const tar = (secret: string): Buffer => {
    const [head, content] = [Buffer.alloc(512), Buffer.alloc(512)];
    head.write('secrets/.env', 0);
    head.write('0000644\0', 100);
    head.write('ustar\0', 257);
    content.write(`DB_PASSWORD=${secret}\n`);
    return Buffer.concat([head, content, Buffer.alloc(1_024)]);
  };
  add('base64 of tar', random(24), (s) => `$ tar c secrets | base64 -w0\n${base64(tar(s))}`);
  add('base64 of tar with gzip', random(24), (s) => base64(gzipSync(tar(s))));
  const sqlite = (secret: string): Buffer =>
    Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(80, 7), Buffer.from(note(secret)), Buffer.alloc(80)]);
  add('base64 of SQLite', github(), (s) => base64(sqlite(s)));
  add('base64 of a sound', github(), (s) =>
    base64(Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\x76TXXX\0\0\0\x40\0\0\0', 'latin1'), Buffer.from(note(s)), Buffer.alloc(60, 0xff)])),
  );
  const parts = (pack: (text: string) => Uint8Array, secret: string): Buffer =>
    Buffer.concat([pack(`an ordinary beginning ${hex(40)}`), pack(note(secret))]);
  add('second member of gzip', github(), (s) => base64(parts(gzipSync, s)));
  add('second frame of Zstandard', github(), (s) => base64(parts(zstdCompressSync, s)));
  const zip = (secret: string, more: readonly RawEntry[]): string => base64(rawZip([...more, packedText('b.txt', note(secret))]));
  const padding = Buffer.from(`padding ${fake('', 400)}`);
  add('ZIP beside an entry that cannot be read', github(), (s) => zip(s, [{ name: 'a.bin', content: padding, method: 14 }]));
  add('ZIP, hidden by a later entry of its name', github(), (s) =>
    base64(rawZip([packedText('a.txt', note(s)), { name: 'a.txt', content: padding }])),
  );
  add('ZIP with a stream', github(), (s) => base64(rawZip([{ ...packedText('a.txt', note(s)), flags: 8 }])));
}

const packedText = (name: string, text: string): RawEntry => ({ name, content: deflateRawSync(text), length: text.length, method: 8 });

/** Further texts that redaction leaves unchanged. */
export const moreOrdinary = ({ hex, random }: Pick<Maker, 'hex' | 'random'>): string[] => [
  ...['docker run -p 27017:27017 --name mongo mongo', 'docker run -p 127.0.0.1:5432:5432/tcp postgres', 'curl -u "$USER:$PASS" https://x'],
  ...[
    'echo done | sudo tee /etc/motd',
    'sudo -S is an option that reads a password',
    'unzip -p a.zip word/document.xml',
    'ssh-keygen -t ed25519 -N ""',
  ],
  ...['net user ada /delete', 'smbclient -U guest% //h/x', 'keytool -list -storepass "$PASS"', 'gh secret set TOKEN --body "$TOKEN"'],
  ...['npm config set registry https://registry.example', 'git config set user.name ada', 'aws configure set region eu-west-1'],
  ...['docker pull nginx:latest@sha256:ab', 'http://localhost:3000/@vite/client', 'https://unpkg.example/react@18/umd/react.js', 'npm:react@18.2.0'],
  ...['redis://cache:6379/0', 'postgres://localhost:5432/x', 'mongodb://h1:27017,h2:27018/x?replicaSet=r', 'jdbc:postgresql://db:5432/x'],
  ...[`{"session_id":"${crypto.randomUUID()}"}`, `sessionId: ${crypto.randomUUID()}`, `"d":"M10 10h5v${hex(2)}z"`, `{"q":"${hex(40)}"}`],
  ...['{"kty":"RSA","e":"AQAB","kid":"k1"}', 'path%20with%20spaces%0Aand%20breaks', 'a &#10; b &#32; c', 'one\\u000atwo\\u0020three'],
  ...['password: *pw', 'password: !secret db', 'password: !Ref DbPassword', 'password: &pw\n  type: string\n', 'password: |\n\nuser: x'],
  ...[
    '-----BEGIN PUBLIC KEY-----',
    '-----BEGIN CERTIFICATE-----',
    'ewok',
    'eye.catching.words',
    'AQ. Abbreviations',
    'sess-1',
    're_order_items_by_name',
  ],
  ...[`${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`, `${hex(32)}-${hex(4)}`, `build-${hex(32)}-linux`, `etag ${hex(32)}-12`],
  ...[
    'pi_count_secret_santa',
    'pat-na1 is a region',
    'cfk_ prefix',
    `index ${hex(7)}..${hex(7)} 100644`,
    `blob:http://localhost/${crypto.randomUUID()}`,
  ],
  ...[
    '<property name="password"></property>',
    '[{"value":"text","name":"password"}]',
    'passwords:\n  - required\n  - name: x',
    "page.setCookie({ name: 'theme', value: 'dark' })",
    '<key>password</key>\n<false/>',
    'form.setPassword(value)',
    'setToken("")',
    'ids = 100, 101, 102, 103',
  ],
  ...['const { SECRET_KEY } = process.env || {};', 'a = [116, 104, 101, 32, 99, 97, 116, 32, 115, 97, 116, 32, 111, 110]', 'password = """'],
  ...['{"cookies": {"theme": "dark"}}', 'headers = [("cookie", "")]', '#define TOKEN_LENGTH 32', 'WIFI: on; P: 2 bars;'],
  ...[
    '+  password: |\n+  user: x\n',
    'token: |\n\nuser: x',
    'Map<Token>value>',
    'Digest of a file, response=ok',
    'Promise<password>',
    '=3D'.repeat(12),
  ],
  ...['JSESSIONID is the cookie of Java', 'connect.sid = undefined', 'Signature=required', `?v=${hex(20)}&Signature=none`, random(12)],
];
