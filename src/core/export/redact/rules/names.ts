/** The kind of a name. It decides how much a value must look like a secret. */
export type NameKind = 'password' | 'key' | 'header' | 'phrase';

/** Ends of names, in lower case without separators. */
const ends: Readonly<Record<NameKind, readonly string[]>> = {
  password: ['password', 'passwd', 'passphrase', 'passwort', 'passcode', 'pwd', 'secret'],
  key: [
    ...['apikey', 'appkey', 'accesskey', 'secretkey', 'privatekey', 'signingkey', 'encryptionkey', 'masterkey', 'authkey', 'accountkey'],
    ...['servicekey', 'servicerolekey', 'licensekey', 'subscriptionkey', 'functionkey', 'storagekey', 'sessionkey', 'sharedkey', 'hostkey'],
    ...['clientkeydata', 'secretkeybase', 'webhookkey', 'deploykey', 'hmackey', 'aeskey', 'jwtkey', 'adminkey', 'serverkey', 'keysecret'],
    ...['jsessionid', 'phpsessid', 'connectsid', 'aspnetsessionid', 'token', 'credential', 'credentials', 'xamzsignature', 'xgoogsignature'],
    ...['xamzcredential', 'sastoken', 'bearer', 'jwt', 'instrumentationkey'],
  ],
  header: ['authorization'],
  phrase: ['mnemonic', 'seedphrase', 'recoveryphrase'],
};

/** Last words of names that are too short to be recognized as an end: `db_pass` and `DB_PW`, but not `bypass`. */
const lastWords: Readonly<Record<string, NameKind>> = { pass: 'password', pw: 'password', auth: 'key', sig: 'key', pat: 'key', psk: 'password' };

/** Whole words after which a name still names a secret: `SECRET_KEY_BASE64`, `API_KEY_PROD`, `password2`. */
const suffixes = /[_\-.]?(?:base64|b64|prod|production|dev|development|test|testing|staging|live|sandbox|old|new|local|default|value|raw|\d{1,4})$/i;

/** Words before `token` in names of tokens of parsers, models and lists, which are no credentials. `admin_token` and `backend_token` are. */
const otherWord =
  'page|next|prev|previous|continuation|continue|cancel|cancellation|cursor|start|end|first|last|current|eos|bos|eot|pad|unk|sep|cls|mask|stop|special|syntax|css|design|non|sub|image|audio|video|text|prompt|max|min|perm?|new|input|output';
const otherTokens = new RegExp(`(?:^|_)(?:${otherWord})_tokens?$|^(?:${otherWord}){1,3}tokens?$`);
/** Names of switches, of forms and of keys that are not secret. */
const notSecret =
  /(?:^|[_.-])(?:(?:is|has|no|use|require|requires|invalid|missing|expired)[_.-]?(?:password|passwd|secret|api[_.-]?key|token)|(?:show|hide|forgot|reset|change|update)[_.-]?(?:password|passwd))$/;

/** The kind of a name such as `DB_PASSWORD`, `apiKey`, `x-auth-token` or `spring.datasource.password`; undefined if it names no secret. */
export function kindOfName(name: string): NameKind | undefined {
  const whole = name.replace(suffixes, '').replace(/^[-.]+|[-_.]+$/g, '');
  const flat = whole.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase();
  const words = whole.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase();
  if (flat === '' || notSecret.test(words) || otherTokens.test(words.replaceAll(/[^a-z0-9]+/g, '_'))) return undefined;
  for (const kind of kinds) if (ends[kind].some((end) => flat.endsWith(end))) return kind;
  const last = /(?:^|[^A-Za-z0-9]|(?<=[a-z0-9])(?=[A-Z]))([A-Za-z][a-z]{1,5}|[A-Z]{2,6})$/.exec(whole)?.[1]?.toLowerCase();
  return last !== undefined && Object.hasOwn(lastWords, last) ? lastWords[last] : undefined;
}
const kinds = Object.keys(ends) as NameKind[];

/** The name of a value beside it. `{ name: 'sessionid', value: '…' }` is a cookie, while a member `sessionId` is no secret. */
export const nameBeside = (name: string): string => (/(?:^|[_.-])(?:sess(?:ion)?(?:[_.-]?id)?|sid)$/i.test(name) ? `${name}-token` : name);

/** Whether a name is so short that it counts as the name of a secret only before a sign and a value in quotes. */
export const isWeakName = (name: string): boolean => /^-{0,2}(?:pass|auth|sig|pat|key)$/i.test(name);

/** Whether a name is written as environment variables are: `DB_PASSWORD`. */
export const isEnvironmentName = (name: string): boolean => /^[A-Z][A-Z0-9_]*$/.test(name);
