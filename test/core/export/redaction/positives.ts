import { fake, fakeJwt, fakeKey, urlOf } from './fake.js';

/** A text with secrets in it. What a redacted text still contains of a secret, from 12 characters, counts as a miss. */
export interface Probe {
  readonly name: string;
  readonly text: string;
  readonly secrets: readonly string[];
  /** The text is JSON, and is redacted as JSON. */
  readonly isJson?: true;
  /** Only a redaction with IP addresses removes it. */
  readonly ips?: true;
}

const secret = (text: string, ...secrets: string[]) => ({ text, secrets });
const probes = (group: string, rows: Readonly<Record<string, { text: string; secrets: string[] }>>): Probe[] =>
  Object.entries(rows).map(([name, { text, secrets }]) => ({ name: `${group}: ${name}`, text, secrets }));

const pw = 'Tr0ub4dor&3x';
const word = 'swordfish';
const hex = fake('', 40, 'hex');
const key = fake('', 40);
const aws = fake('', 40, 'base64');
const jwt = fakeJwt('grace');

const assignments = probes('assignment', {
  'env file': secret(`APP=1\nDB_PASSWORD=${pw}\nPORT=1\n`, pw),
  'env file, a word': secret(`REDIS_PASSWORD=${word}\n`, word),
  'env file in quotes': secret(`SECRET_KEY="${key}"\n`, key),
  'env file in single quotes': secret(`SECRET_KEY_BASE='${hex}${hex}'`, hex),
  'escaped newlines around it': secret(`PORT=1\\nDB_PASSWORD=${pw}\\nHOST=x`, pw),
  'escaped twice': secret(`{\\\\\\"DB_PASSWORD\\\\\\":\\\\\\"${word}1\\\\\\"}`, `${word}1`),
  export: secret(`export X_TOKEN=${key}`, key),
  'export in a command': secret(`cd app && export STRIPE_SECRET=${key} && npm start`, key),
  'before a command': secret(`PGPASSWORD=${pw} psql -h db -U app -c 'select 1'`, pw),
  'docker run': secret(`docker run -e MYSQL_ROOT_PASSWORD=${pw} -p 3306:3306 mysql:8`, pw),
  Dockerfile: secret(`FROM node:24\nENV API_TOKEN ${key}\nCMD ["node"]`, key),
  'Dockerfile, with a sign': secret(`ENV API_TOKEN=${key} PORT=1`, key),
  setenv: secret(`setenv GITLAB_TOKEN ${hex}`, hex),
  fish: secret(`set -gx OPENAI_API_KEY ${key}`, key),
  PowerShell: secret(`$env:ARM_CLIENT_SECRET = "${key}"`, key),
  'Windows set': secret(`set DB_PASS=${pw}\r\nstart app`, pw),
  setx: secret(`setx API_KEY ${key}`, key),
  JSON: secret(`{"api_key": "${key}", "model": "x"}`, key),
  'JSON, camel case': secret(`{"apiKey":"${key}"}`, key),
  'JSON password': secret(`{"user":"ada","password":"${word}"}`, word),
  'JSON in a string': secret(`{\\"api_key\\": \\"${key}\\", \\"n\\": 1}`, key),
  'JSON over lines in a string': secret(`{\\n  \\"client_secret\\": \\"${key}\\",\\n  \\"n\\": 1\\n}`, key),
  'JSON with a quote in it': secret(`{"password": "ab\\"${word}99"}`, `${word}99`),
  YAML: secret(`db:\n  user: app\n  password: ${word}\n  port: 5432\n`, word),
  'YAML in quotes': secret(`  password: '${pw}'  # rotate\n`, pw),
  'YAML with a comment': secret(`auth_token: ${key} # staging\n`, key),
  'YAML list': secret(`- secret_key: ${key}\n- x: 1\n`, key),
  'Kubernetes env': secret(`env:\n  - name: DB_PASSWORD\n    value: ${word}7\n`, `${word}7`),
  'Kubernetes secret': secret(`data:\n  db-password: ${Buffer.from('hunter2hunter2').toString('base64')}\n`, 'aHVudGVyMmh1bnRlcjI='),
  'task definition': secret(`"environment": [{"name": "JWT_SECRET", "value": "${key}"}]`, key),
  'docker compose': secret(`      POSTGRES_PASSWORD: ${word}\n      POSTGRES_USER: app\n`, word),
  TOML: secret(`[auth]\ntoken = "${key}"\n`, key),
  INI: secret(`[client]\npassword = ${pw}\n`, pw),
  properties: secret(`spring.datasource.password=${word}\n`, word),
  Terraform: secret(`variable "x" {}\ndb_password = "${pw}"\n`, pw),
  'Terraform variable': secret(`terraform apply -var 'db_password=${pw}'`, pw),
  'Helm set': secret(`helm upgrade x ./x --set auth.password=${pw}`, pw),
  Python: secret(`API_KEY = "${key}"\nclient = Client(API_KEY)`, key),
  'Python keyword': secret(`connect(host="db", password="${pw}", port=1)`, pw),
  'Python with a type': secret(`token: str = "${key}"`, key),
  'Python dictionary': secret(`config = {'secret_key': '${key}'}`, key),
  'Python environment': secret(`os.environ["ANTHROPIC_API_KEY"] = "${key}"`, key),
  'Python default': secret(`os.getenv("API_TOKEN", "${key}")`, key),
  JavaScript: secret(`const apiKey = '${key}';`, key),
  'JavaScript property': secret(`new Client({ authToken: '${key}', retries: 3 });`, key),
  'JavaScript template': secret(`const password = \`${pw}\`;`, pw),
  TypeScript: secret(`const secretKey: string = '${key}';`, key),
  'local storage': secret(`localStorage.setItem('access_token', '${key}')`, key),
  Go: secret(`cfg.Password = "${pw}"`, pw),
  'Go, short': secret(`apiToken := "${key}"`, key),
  Ruby: secret(`config.secret_key_base = '${hex}'`, hex),
  'Ruby hash': secret(`{ :api_key => "${key}" }`, key),
  PHP: secret(`define('DB_PASSWORD', '${pw}');`, pw),
  'PHP array': secret(`'password' => '${pw}',`, pw),
  Rust: secret(`let token: &str = "${key}";`, key),
  Java: secret(`private static final String API_KEY = "${key}";`, key),
  'C#': secret(`"ConnectionStrings": {"Db": "Server=db;User Id=sa;Password=${pw};Encrypt=true"}`, pw),
  'Azure storage': secret(`DefaultEndpointsProtocol=https;AccountName=x;AccountKey=${aws}${aws}==;EndpointSuffix=core.windows.net`, aws),
  'Azure service bus': secret(`Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=${aws}AAA=`, aws),
  XML: secret(`<server><username>ci</username><password>${word}</password></server>`, word),
  'XML attribute': secret(`<add key="ApiPassword" value="${pw}" />`, pw),
  flag: secret(`deploy --api-key ${key} --region eu`, key),
  'flag with a sign': secret(`mongodump --uri x --password=${pw}`, pw),
  'flag with quotes': secret(`tool --client-secret "${key}"`, key),
  'AWS secret': secret(`aws_secret_access_key = ${aws}`, aws),
  'AWS secret, environment': secret(`AWS_SECRET_ACCESS_KEY=${aws}\nAWS_REGION=eu-west-1`, aws),
  'AWS secret, JSON': secret(`"SecretAccessKey": "${aws}",`, aws),
  'AWS session': secret(`AWS_SESSION_TOKEN=${aws}${aws}${aws}`, aws),
  'npm configuration': secret(`//registry.npmjs.org/:_authToken=${hex}`, hex),
  'npm configuration, basic': secret(`_auth=${Buffer.from(`ci:${pw}`).toString('base64')}`, Buffer.from(`ci:${pw}`).toString('base64')),
  'PyPI configuration': secret(`[pypi]\nusername = __token__\npassword = ${key}\n`, key),
  netrc: secret(`machine api.example.com login ada password ${word}`, word),
  'docker configuration': secret(
    `{"auths":{"ghcr.io":{"auth":"${Buffer.from(`ada:${pw}`).toString('base64')}"}}}`,
    Buffer.from(`ada:${pw}`).toString('base64'),
  ),
  'kube configuration': secret(`    token: ${jwt}\n`, jwt),
  'numbered lines of a tool': secret(`     1→NODE_ENV=x\n     2→DB_PASSWORD=${pw}\n     3→`, pw),
  'grep output': secret(`config/prod.env:12:SMTP_PASSWORD=${pw}`, pw),
  'diff of an env file': secret(`@@ -1,2 +1,2 @@\n-API_SECRET=${word}123\n+API_SECRET=${key}\n`, `${word}123`, key),
  'log line': secret(`level=debug msg="login" user=ada password=${word}42 ok=true`, `${word}42`),
  SQL: secret(`CREATE USER app WITH PASSWORD '${pw}';`, pw),
  'SQL, identified by': secret(`ALTER USER 'app'@'%' IDENTIFIED BY '${pw}';`, pw),
  sentence: secret(`The password is ${word}99, please use it.`, `${word}99`),
  'OAuth answer': secret(`{"access_token":"${key}","token_type":"Bearer","expires_in":3600,"refresh_token":"${hex}"}`, key, hex),
  query: secret(`GET /cb?access_token=${key}&state=1`, key),
  'query of a signed URL': secret(`${urlOf('x.blob.core.windows.net')}/a?sv=2024&sig=${fake('', 43)}%3D&se=2026`, fake('', 43)),
  'signed URL of S3': secret(`${urlOf('b.s3.amazonaws.com')}/k?X-Amz-Expires=60&X-Amz-Signature=${hex}${hex.slice(0, 24)}`, hex),
  'recovery phrase': secret(
    `mnemonic: "abandon ability able about above absent absorb abstract absurd abuse access accident"`,
    'abandon ability able about above absent',
  ),
});

const letters = 'qwertyuiopas';
const mixed = 'kJhGfDsAqWeRtY';
const lettersOnly = probes('letters only', {
  'env file': secret(`PORT=1\nAPI_KEY=${letters}\n`, letters),
  'env file, token': secret(`export AUTH_TOKEN=${letters}`, letters),
  'env file, upper case': secret(`SECRET_KEY=${letters.toUpperCase()}`, letters.toUpperCase()),
  'env file, mixed case': secret(`OPENAI_API_KEY=${mixed}`, mixed),
  'env file in quotes': secret(`API_KEY="${letters}"`, letters),
  'docker run': secret(`docker run -e X_API_KEY=${letters} app`, letters),
  flag: secret(`deploy --api-key=${letters} --region eu`, letters),
  'flag, mixed case': secret(`deploy --token ${mixed}`, mixed),
  JSON: secret(`{"apiKey": "${letters}", "model": "x"}`, letters),
  'JSON, mixed case': secret(`{"access_token":"${mixed}"}`, mixed),
  YAML: secret(`api_key: ${letters}\nregion: eu\n`, letters),
  JavaScript: secret(`const secretKey = '${letters}';`, letters),
  TypeScript: secret(`const token: string = '${mixed}';`, mixed),
});

const languages = probes('language', {
  Chinese: secret(`用户名：ada\n密码：${word}\n`, word),
  'Chinese, one line': secret(`数据库密码：${pw}，然后重启服务。`, pw),
  'Chinese, ASCII colon': secret(`密码: ${pw}`, pw),
  'Chinese, a sentence': secret(`root 的密码是 ${pw}。`, pw),
  'Chinese, quoted': secret(`口令：“${word}”`, word),
  'Chinese, bold': secret(`**密码：** ${pw}`, pw),
  'Chinese, key': secret(`API 密钥：${key}`, key),
  'Chinese, short key': secret(`访问令牌：${key.slice(0, 14)}7`, `${key.slice(0, 14)}7`),
  'Chinese, English name': secret(`登录 password：${word}，端口 8080`, word),
  'Chinese, English name of a token': secret(`token：${hex}`, hex),
  'traditional Chinese': secret(`密碼：${word}9`, `${word}9`),
  'Chinese, JSON': secret(`{"用户": "ada", "密码": "${word}"}`, word),
  Japanese: secret(`パスワード：${word}`, word),
  'Japanese, a sentence': secret(`パスワードは ${pw} です`, pw),
  Korean: secret(`비밀번호: ${word}77`, `${word}77`),
  Russian: secret(`логин: ada, пароль: ${word}`, word),
  'Russian, token': secret(`токен = ${hex}`, hex),
  Ukrainian: secret(`Пароль: "${word}"`, word),
  Spanish: secret(`usuario: ada\ncontraseña: ${word}1\n`, `${word}1`),
  'Spanish, a sentence': secret(`La contraseña es ${word}42.`, `${word}42`),
  Portuguese: secret(`senha = "${word}"`, word),
  French: secret(`Mot de passe : ${pw}`, pw),
  German: secret(`Kennwort: ${word}1`, `${word}1`),
  Polish: secret(`hasło: ${pw}`, pw),
  Turkish: secret(`Şifre: ${pw}`, pw),
  Vietnamese: secret(`Mật khẩu: ${pw}`, pw),
  Thai: secret(`รหัสผ่าน: ${word}5`, `${word}5`),
  Arabic: secret(`كلمة المرور: ${pw}`, pw),
  Hebrew: secret(`סיסמה: ${pw}`, pw),
  'escaped newlines': secret(`用户：ada\\n密码：${word}\\n`, word),
  'name with a space': secret(`API key: ${key.slice(0, 17)}4`, `${key.slice(0, 17)}4`),
});

const headers = probes('header', {
  curl: secret(`curl https://api.example.com -H "Authorization: Bearer ${key}"`, key),
  'curl, escaped': secret(`curl x -H \\"Authorization: Bearer ${key}\\"`, key),
  'curl, api key': secret(`curl x -H 'x-api-key: ${key}'`, key),
  'curl, any key header': secret(`curl x -H "PRIVATE-TOKEN: ${hex}"`, hex),
  'curl, user': secret(`curl -u ada:${pw} https://api.example.com`, pw),
  'curl, user in quotes': secret(`curl -s --user "ada:${pw}" https://x`, pw),
  'curl, over lines': secret(`curl -X POST https://x \\\n  -H "Authorization: token ${key}" \\\n  -d '{}'`, key),
  'curl, cookie': secret(`curl x -H 'Cookie: session=${hex}; theme=dark'`, hex),
  'plain request': secret(`GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${hex}\r\nAccept: */*\r\n`, hex),
  'basic authorization': secret(`Authorization: Basic ${Buffer.from(`ada:${pw}`).toString('base64')}`, Buffer.from(`ada:${pw}`).toString('base64')),
  'basic elsewhere': secret(`sent "Basic ${Buffer.from(`ada:${pw}`).toString('base64')}" to it`, Buffer.from(`ada:${pw}`).toString('base64')),
  'authorization without a scheme': secret(`authorization: ${key}`, key),
  'set-cookie': secret(`Set-Cookie: sid=${key}; HttpOnly; Secure`, key),
  'JavaScript fetch': secret(`fetch(x, { headers: { Authorization: \`Bearer ${key}\` } })`, key),
  'Python requests': secret(`requests.get(x, headers={"Authorization": "Bearer ${key}", "X-Api-Key": "${hex}"})`, key, hex),
  HAR: secret(`{"name":"authorization","value":"Bearer ${key}"}`, key),
  'proxy authorization': secret(`Proxy-Authorization: Basic ${Buffer.from(`u:${pw}`).toString('base64')}`, Buffer.from(`u:${pw}`).toString('base64')),
  sshpass: secret(`sshpass -p '${pw}' ssh root@host`, pw),
  mysql: secret(`mysql -h db -u root -p${word} app < dump.sql`, word),
  'redis-cli': secret(`redis-cli -h cache -a ${word} ping`, word),
  'docker login': secret(`docker login ghcr.io -u ada -p ${word}`, word),
  openssl: secret(`openssl pkcs12 -in a.p12 -passin pass:${word}`, word),
});

const urls = probes('URL', {
  PostgreSQL: secret(`postgres://app:${word}@db.example.com:5432/app`, word),
  'PostgreSQL, short': secret('postgresql://user:pw@host/db and more', ':pw@'),
  'MongoDB in JSON': secret(`{"uri":"mongodb+srv://app:${word}@c0.example.net/x?retryWrites=true"}`, word),
  Redis: secret(`REDIS_URL=redis://:${word}@cache:6379/0`, word),
  AMQP: secret(`amqp://guest:${word}@mq//`, word),
  SMTP: secret(`smtps://ada%40x.org:${word}@smtp.x.org:465`, word),
  'git remote': secret(`origin\thttps://ada:${key}@github.com/a/b.git (fetch)`, key),
  'git remote, token alone': secret(`git clone https://${hex}@github.com/a/b.git`, hex),
  'git remote, access token': secret(`https://x-access-token:${key}@github.com/a/b`, key),
  'package index': secret(`pip install --extra-index-url https://ci:${word}@pypi.example.com/simple x`, word),
  JDBC: secret(`jdbc:mysql://db/app?user=a&password=${word}`, word),
  'JDBC of Oracle': secret(`jdbc:oracle:thin:scott/${word}@//db:1521/x`, word),
  'proxy in a string': secret(`export https_proxy=\\"http://ada:${word}@proxy:3128\\"`, word),
  'Slack webhook': secret(`${urlOf('hooks.slack.com')}/services/T0123ABCD/B0123ABCD/${fake('', 24)}`, fake('', 24)),
  'Discord webhook': secret(`${urlOf('discord.com')}/api/webhooks/123456789012345678/${fake('', 68, 'url')}`, fake('', 68, 'url').slice(0, 40)),
  'Teams webhook': secret(`${urlOf('x.webhook.office.com')}/webhookb2/${fake('', 36, 'hex')}@${fake('', 36, 'hex')}/IncomingWebhook/${hex}/y`, hex),
});

const labels = ['RSA PRIVATE KEY', 'EC PRIVATE KEY', 'PRIVATE KEY', 'ENCRYPTED PRIVATE KEY', 'OPENSSH PRIVATE KEY', 'DSA PRIVATE KEY'];
const pem = (label: string) => fakeKey(label);
const bodyOf = (text: string): string[] => text.split('\n').slice(1, -1);
const keys = probes('private key', {
  ...Object.fromEntries(labels.map((label) => [label, secret(`here:\n${pem(label)}\nend`, ...bodyOf(pem(label)))])),
  'PGP block': secret(
    `-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n${bodyOf(pem('X')).join('\n')}\n=aB3d\n-----END PGP PRIVATE KEY BLOCK-----`,
    ...bodyOf(pem('X')),
  ),
  'encrypted, with headers': secret(
    pem('RSA PRIVATE KEY').replace('KEY-----\n', 'KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,ABCDEF\n\n'),
    ...bodyOf(pem('RSA PRIVATE KEY')),
  ),
  'escaped newlines': secret(`"private_key": "${pem('PRIVATE KEY').replaceAll('\n', '\\n')}\\n"`, ...bodyOf(pem('PRIVATE KEY'))),
  'escaped twice': secret(pem('EC PRIVATE KEY').replaceAll('\n', '\\\\n'), ...bodyOf(pem('EC PRIVATE KEY'))),
  'line breaks of Windows': secret(pem('EC PRIVATE KEY').replaceAll('\n', '\r\n'), ...bodyOf(pem('EC PRIVATE KEY'))),
  'cut off at the end': secret(pem('OPENSSH PRIVATE KEY').slice(0, 400), ...bodyOf(pem('OPENSSH PRIVATE KEY').slice(0, 400)).slice(0, 4)),
  'cut off in the middle, escaped': secret(pem('PRIVATE KEY').slice(0, 400).replaceAll('\n', '\\n'), ...bodyOf(pem('PRIVATE KEY')).slice(0, 4)),
  'cut off at the beginning': secret(pem('RSA PRIVATE KEY').split('\n').slice(3).join('\n'), ...bodyOf(pem('RSA PRIVATE KEY')).slice(3)),
  'added in a diff': secret(`${pem('EC PRIVATE KEY').replaceAll(/^/gm, '+')}\n`, ...bodyOf(pem('EC PRIVATE KEY'))),
  'numbered lines of a tool': secret(
    pem('PRIVATE KEY')
      .split('\n')
      .map((line, at) => `${String(at + 1).padStart(6)}→${line}`)
      .join('\n'),
    ...bodyOf(pem('PRIVATE KEY')),
  ),
  'quoted in Markdown': secret(pem('PRIVATE KEY').replaceAll(/^/gm, '> '), ...bodyOf(pem('PRIVATE KEY'))),
  'indented in YAML': secret(`key: |\n${pem('PRIVATE KEY').replaceAll(/^/gm, '    ')}\n`, ...bodyOf(pem('PRIVATE KEY'))),
  'in one line': secret(pem('EC PRIVATE KEY').replaceAll('\n', ' '), ...bodyOf(pem('EC PRIVATE KEY'))),
  'a line of it elsewhere': secret(`${pem('PRIVATE KEY')}\n\nline 2 is ${bodyOf(pem('PRIVATE KEY'))[1]}!`, bodyOf(pem('PRIVATE KEY'))[1] ?? ''),
  PuTTY: secret(`PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n${aws}\nPrivate-MAC: ${hex}${hex.slice(0, 24)}\n`, aws),
  age: secret(`AGE-SECRET-KEY-1${fake('', 58, 'upper')}`, fake('', 58, 'upper')),
  'hash of a password': secret(`ada:$6$rounds$${fake('', 86)}:19000:0`, fake('', 86)),
  bcrypt: secret(`"hash": "$2b$12$${fake('', 53)}"`, fake('', 53)),
});

const json = (name: string, value: unknown, ...secrets: string[]): Probe => ({
  name: `JSON: ${name}`,
  text: JSON.stringify(value),
  secrets,
  isJson: true,
});
const documents: Probe[] = [
  json('argument of a tool', { type: 'tool_use', input: { password: word, url: 'x' } }, word),
  json('command of a tool', { input: { command: `echo "TOKEN=${key}" >> .env\nexport DB_PASSWORD='${pw}'` } }, key, pw),
  json('result of a tool', { type: 'tool_result', content: `{\n  "apiKey": "${key}",\n  "secret": "${word}77"\n}` }, key, `${word}77`),
  json('JSON in a string in a string', { content: JSON.stringify({ body: JSON.stringify({ client_secret: key }) }) }, key),
  json('name beside value', { env: [{ name: 'DB_PASSWORD', value: word }] }, word),
  json('headers as pairs', { rawHeaders: ['Host', 'x', 'authorization', key] }, key),
  json('arguments as a list', { argv: ['login', '--password', word] }, word),
  json('name of a member', { [`Bearer ${key}`]: 1 }, key),
  json('cookie', { headers: { cookie: `sid=${hex}; a=b` } }, hex),
  json('authorization', { headers: { Authorization: `Bearer ${word}-${word}` } }, `${word}-${word}`),
  json(
    'key of a service account',
    { type: 'service_account', private_key: `${pem('PRIVATE KEY')}\n`, client_email: 'x' },
    ...bodyOf(pem('PRIVATE KEY')),
  ),
  json('stream of a model', { delta: { thinking: `The user gave me ${jwt} to sign in.` } }, jwt),
  json('a second place without its name', { password: `${word}2026`, note: `then I typed ${word}2026 again` }, `${word}2026`),
];

const people = probes('person', {
  'home folder': secret('cat /home/ada/notes.txt', '/home/ada'),
  'home folder after an escape': secret('ls\\n/home/ada/x\\n', '/home/ada'),
  'home folder of macOS': secret('file:///Users/grace/x', '/Users/grace'),
  'home folder of Windows': secret('C:\\\\Users\\\\Eve\\\\x', 'Users\\\\Eve'),
  'e-mail address': secret('mail ada.l@example.org today', 'ada.l@example.org'),
  'e-mail address after an escape': secret('x\\nada@example.org\\n', 'ada@example.org'),
});

const ip = (name: string, text: string, address: string): Probe => ({ name: `IP address: ${name}`, text, secrets: [address], ips: true });
const addresses: Probe[] = [
  ip('log', '203.0.113.9 - - [04/Jan/2026] "GET /"', '203.0.113.9'),
  ip('port', 'listening on 10.1.2.3:8080', '10.1.2.3'),
  ip('after an escape', 'hosts\\n198.51.100.7 db\\n', '198.51.100.7'),
  ip('URL', urlOf('192.168.1.20/admin', 'http'), '192.168.1.20'),
  ip('range', 'allow 172.16.0.0/12;', '172.16.0.0'),
  ip('version 6', 'inet6 2001:db8:85a3::8a2e:370:7334/64', '2001:db8:85a3::8a2e:370:7334'),
  ip('version 6 in brackets', urlOf('[2001:db8::5]:443/', 'http'), '2001:db8::5'),
  ip('link-local', 'fe80::1ff:fe23:4567:890a%eth0', 'fe80::1ff:fe23:4567:890a'),
  ip('name of a host', 'ssh ec2-user@ip-10-0-3-17.ec2.internal', 'ip-10-0-3-17'),
  ip('mapped', '::ffff:192.0.2.33', '192.0.2.33'),
];

/** Secrets that no rule can tell from other text. They are in the corpus so that the published recall is honest. */
export const knownMisses = probes('known miss', {
  'a password in a sentence without its name': secret(`log in as ada with ${word}`, word),
  'random characters alone': secret(`I got ${hex} from them`, hex),
});

/** Texts with secrets, in the surroundings in which agents meet them. */
export const positives: readonly Probe[] = [
  ...assignments,
  ...lettersOnly,
  ...languages,
  ...headers,
  ...urls,
  ...keys,
  ...documents,
  ...people,
  ...addresses,
];
