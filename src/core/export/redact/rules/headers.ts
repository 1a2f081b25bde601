import { isPlaceholder } from './placeholders.js';
import { findValues, isMachineMade, namedSpan, secretSpan, type TextSpan } from './span.js';

const bearer = /\b[Bb]earer[ \t:]{1,4}\\*["']?([\w.~+/=-]{12,8192})/g;
/** The signature of a request, and the proof of a password. */
const signed = [
  ['AWS4', /\bAWS4-HMAC-SHA256\b[^\n]{0,600}?\bSignature=([0-9a-f]{16,128})/g],
  ['Digest', /\bDigest\b[^\n]{0,400}?\bresponse=\\*"?([0-9a-fA-F]{16,128})/g],
] as const;
const basic = /\b[Bb]asic[ \t]{1,4}([A-Za-z0-9+/]{8,1024}={0,2})/g;

/** Values after `Bearer` and `Basic` anywhere in a text, and passwords in the options of commands such as `curl -u`. Linear. */
export function* headerSecrets(text: string): Generator<TextSpan> {
  for (const { value, from, to } of findValues(text, bearer, 'earer')) if (isMachineMade(value) && !isPlaceholder(value)) yield secretSpan(from, to);
  for (const { value, from, to } of findValues(text, basic, 'asic')) if (isUserAndPassword(value)) yield secretSpan(from, to);
  for (const [needle, pattern] of signed) for (const { from, to } of findValues(text, pattern, needle)) yield secretSpan(from, to);
  for (const [, needle, pattern] of commands)
    for (const { value, from, to } of findValues(text, pattern, needle))
      if (value.length >= 3 && !isPlaceholder(value) && !port.test(value)) yield namedSpan(text, from, to);
}

/** Ports and ranges of ports, as options name them: `-p 127.0.0.1:8080:80/tcp`. */
const port = /^(?:[\d.]{7,15}:)?\d{1,5}(?:[:-]\d{1,5}){0,4}(?:\/\w{3})?$/;

/** Whether a value after `Basic` is base64 of `user:password`. */
function isUserAndPassword(value: string): boolean {
  const text = Buffer.from(value, 'base64').toString('latin1');
  return /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(text);
}

const valueAfter = (command: string): RegExp => new RegExp(String.raw`${command}\\*["']?([^\s"'\\]{3,256})`, 'g');
const rest = String.raw`[^\n|;&]{0,200}?\s`;
const near = String.raw`[^\n|;]{0,160}?\s`;
const gap = String.raw`[ \t]{1,4}`;

/** Options whose value is a password, in the one notation that each command has. The password is the last group. */
const commands: readonly (readonly [name: string, needle: string, pattern: RegExp])[] = [
  [
    'curl and wget',
    ':',
    /(?:\b(?:curl|wget)\b(?:[^\n]|(?<=\\\r?)\n){0,2000}?|\bhttps?\b[^\n]{0,400}?)\s(?:-u|--user|-U|--proxy-user|-a|--auth)[ =]?\\*["']?[^\s"':/]{1,64}:([^\s"'\\]{3,256})/g,
  ],
  ['sshpass', 'sshpass', valueAfter(String.raw`\bsshpass${gap}-p[ \t]{0,4}`)],
  ['mysql', ' -p', valueAfter(String.raw`\b(?:mysql|mysqldump|mysqladmin|mariadb)\b${near}-p`)],
  ['redis-cli', 'redis-cli', valueAfter(String.raw`\bredis-cli\b${near}-a${gap}`)],
  ['docker and az', 'login', valueAfter(String.raw`\b(?:docker|podman|helm registry|az|oc|cf)${gap}login\b${near}-p${gap}`)],
  ['ipmitool', 'ipmitool', valueAfter(String.raw`\bipmitool\b${near}-P${gap}`)],
  ['wpa_passphrase', 'wpa_passphrase', /\bwpa_passphrase[ \t]{1,4}\S{1,64}[ \t]{1,4}\\*["']?([^\s"'\\]{8,63})/g],
  ['remote desktops', '/p:', /\b(?:[wx]?freerdp|mstsc)\b[^\n|;]{0,160}?\s\/p:\\*["']?([^\s"'\\]{3,256})/g],
  ['NuGet', '-ApiKey', /\bnuget\b[^\n|;]{0,160}?\s-ApiKey[ \t]{1,4}\\*["']?([^\s"'\\$]{8,256})/gi],
  ['Cargo', 'cargo login', /\bcargo[ \t]{1,4}login[ \t]{1,4}\\*["']?([^\s"'\\$-][^\s"'\\$]{7,256})/g],
  ['masks of GitHub', '::add-mask::', /::add-mask::([^\s"'\\$]{3,256})/g],
  ['parameters of AWS', 'put-parameter', /\bput-parameter\b(?=[^\n;|]{0,400}SecureString)[^\n;|]{0,200}?\s--value[ =]\\*["']?([^\s"'\\$]{3,256})/g],
  ['openssl', 'pass:', /\s-pass(?:in|out)?[ \t]{1,4}\\*["']?pass:([^\s"'\\]{3,256})/g],
  ['SQL', 'IDENTIFIED', /\bIDENTIFIED[ \t]{1,4}(?:WITH[ \t]{1,4}\w{1,40}[ \t]{1,4})?BY[ \t]{1,4}\\*["']([^\s"'\\]{3,256})/g],
  [
    'sudo',
    'sudo',
    /\becho[ \t]{1,4}(?:-[ne]{1,2}[ \t]{1,4})?\\*["']?([^\s"'\\|]{3,256})\\*["']?[ \t]{0,4}\|[ \t]{0,4}sudo[ \t]{1,4}(?:-[A-Za-z]{1,4}[ \t]{1,4}){0,4}-[A-Za-z]{0,3}S/g,
  ],
  ['sudo', 'sudo', valueAfter(String.raw`\bsudo${gap}-[A-Za-z]{0,3}S\b[^\n|;]{0,200}?<<<[ \t]{0,4}`)],
  ['chpasswd', 'chpasswd', /\becho[ \t]{1,4}\\*["']?[\w.-]{1,64}:([^\s"'\\|]{3,256})\\*["']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?chpasswd/g],
  ['htpasswd', 'htpasswd', valueAfter(String.raw`\bhtpasswd${gap}-[A-Za-z]{0,4}b[A-Za-z]{0,4}${gap}\S{1,200}${gap}\S{1,64}${gap}`)],
  [
    'PowerShell',
    'ConvertTo-SecureString',
    /\bConvertTo-SecureString[ \t]{1,4}(?:-(?:AsPlainText|Force|String)[ \t]{1,4}){0,3}\\*["']([^"'\\\n]{3,256})/g,
  ],
  ['keytool', 'pass', valueAfter(String.raw`\s-(?:(?:src|dest)?(?:store|key)|new)pass${gap}`)],
  ['nmcli', 'nmcli', valueAfter(String.raw`\bnmcli\b${rest}password${gap}`)],
  ['codes for Wi-Fi', 'WIFI:', /\bWIFI:(?:[^\n;]{0,80};){0,4}P:((?:[^\s;"'\\]|\\[;:,\\]){3,64});/g],
  ['files of LDAP', 'bindpw', valueAfter(String.raw`(?:\b|(?<=\\[nrt]))bindpw${gap}`)],
  ['zip', ' -P', valueAfter(String.raw`\b(?:un)?zip\b${rest}-P${gap}`)],
  ['7z and rar', ' -', valueAfter(String.raw`\b(?:7z[ar]?|(?:un)?rar)\b${rest}-h?p(?=[^\s-])`)],
  ['ldapsearch', 'ldap', valueAfter(String.raw`\bldap(?:search|modify|add|delete|passwd|whoami)\b${rest}-w${gap}`)],
  ['ssh-keygen', 'ssh-keygen', /\bssh-keygen\b[^\n|;&]{0,200}?\s-[NP][ \t]{1,4}\\*["']([^"'\\\n]{3,256})/g],
  ['mongosh', 'mongo', valueAfter(String.raw`\bmongo(?:sh|dump|restore|export|import)?\b${rest}-p${gap}`)],
  ['sqlcmd', ' -P', valueAfter(String.raw`\b(?:sqlcmd|bcp|isql)\b${rest}-P[ \t]{0,4}`)],
  ['sqlplus', '@', /\b(?:sqlplus|expdp|impdp|sqlldr)[ \t]{1,4}(?:-[A-Za-z]{1,4}[ \t]{1,4}){0,3}[\w$#.-]{1,64}\/([^\s"'\\@]{3,256})@/g],
  ['smbclient', '%', /\b(?:smbclient|rpcclient|smbget|net)\b[^\n|;&]{0,200}?\s(?:-U|--user)[ \t=]{0,4}\\*["']?[\w.-]{1,64}%([^\s"'\\]{3,256})/g],
  ['net user', '/add', /\bnet[ \t]{1,4}user[ \t]{1,4}[\w.-]{1,64}[ \t]{1,4}([^\s"'\\/][^\s"'\\]{2,255})[ \t]{1,4}\/add/g],
  ['twine', 'twine', valueAfter(String.raw`\btwine${gap}upload\b${rest}-p${gap}`)],
  ['ngrok', 'authtoken', /\b(?:add-)?authtoken[ \t]{1,4}([\w-]{24,256})/g],
  ['gh', ' set ', valueAfter(String.raw`\bgh${gap}(?:secret|variable)${gap}set\b${rest}(?:-b|--body)[ =]{1,2}`)],
  ['openssl', 'openssl', valueAfter(String.raw`\bopenssl\b${rest}-k${gap}`)],
  ['openssl', 'openssl', valueAfter(String.raw`\bopenssl${gap}passwd(?:${gap}-\w{1,12}){0,4}${gap}(?!-)`)],
  ['lftp', 'lftp', valueAfter(String.raw`\blftp\b${rest}-u${gap}[^\s,]{1,64},`)],
  ['rabbitmqctl', 'rabbitmqctl', valueAfter(String.raw`\brabbitmqctl${gap}(?:add_user|change_password)${gap}\S{1,64}${gap}`)],
  ['secrets of fly and others', 'secrets', valueAfter(String.raw`\b(?:fly|flyctl|supabase|railway)${gap}secrets${gap}set${gap}[\w.-]{1,64}=`)],
  ['kubectl', '--from-literal', valueAfter(String.raw`--from-literal[= ]\\*["']?[\w.-]{1,64}=`)],
  ['secrets of aws and az', '--secret-string', valueAfter('--secret-string[= ]')],
  [
    'secrets of aws and az',
    '--value',
    valueAfter(String.raw`\b(?:put-parameter\b${rest}--type[= ]SecureString|keyvault${gap}secret${gap}set)\b${rest}--value[= ]`),
  ],
  ['security', '-password', valueAfter(String.raw`\bsecurity${gap}add-\w{1,12}-password\b${rest}-w${gap}`)],
  ['cmdkey', '/pass:', valueAfter('/pass:')],
  ['net use', '/user:', valueAfter(String.raw`\bnet${gap}use\b${rest}/user:\S{1,64}${gap}`)],
  ['poetry', 'poetry', valueAfter(String.raw`\bpoetry${gap}config${gap}(?:http-basic\.[\w.-]{1,64}${gap}\S{1,64}|pypi-token\.[\w.-]{1,64})${gap}`)],
  ['bundler', 'bundle', valueAfter(String.raw`\bbundle${gap}config\b${rest}[\w.-]{1,64}${gap}[\w.-]{1,64}:`)],
  ['squid', 'login=', valueAfter(String.raw`\blogin=[\w.-]{1,64}:`)],
  ['SQL', '', /\bIDENTIFIED[ \t]{1,4}BY[ \t]{1,4}(?!PASSWORD\b|VALUES\b|RANDOM\b|EXTERNALLY\b)([\w$#!@%^&*.+-]{3,256})/g],
  ['SQL', '(', /(?:\bUSING|=)[ \t]{0,4}(?:OLD_)?PASSWORD\([ \t]{0,4}\\*["']([^\s"'\\]{3,256})/gi],
  ['SQL', '=', /\bSET[ \t]{1,4}PASSWORD\b[^=\n;]{0,120}=[ \t]{0,4}\\*["']([^\s"'\\]{3,256})/gi],
  ['JDBC of Oracle', 'jdbc:oracle', /\bjdbc:oracle:thin:[\w$#.-]{1,64}\/([^\s"'\\@]{3,256})@/g],
];

/** The commands that `headerSecrets` knows, for the documentation. */
export const commandNames: readonly string[] = commands.map(([name]) => name);
