import { isPlaceholder } from './placeholders.js';
import { findMatches, isMachineMade, namedSpan, secretSpan, type TextSpan } from './span.js';

const bearer = /\b[Bb]earer[ \t:]{1,4}\\*["']?([\w.~+/=-]{12,8192})/g;
/** The signature of a request, and the proof of a password. */
const signed = [
  { needle: 'AWS4', pattern: /\bAWS4-HMAC-SHA256\b[^\n]{0,600}?\bSignature=([0-9a-f]{16,128})/g },
  { needle: 'Digest', pattern: /\bDigest\b[^\n]{0,400}?\bresponse=\\*"?([0-9a-fA-F]{16,128})/g },
];
const basic = /\b[Bb]asic[ \t]{1,4}([A-Za-z0-9+/]{8,1024}={0,2})/g;

/** Values after `Bearer` and `Basic` anywhere in a text, and passwords in the options of commands such as `curl -u`. Linear. */
export function* headerSecrets(text: string): Generator<TextSpan> {
  for (const { 0: all, 1: value = '', index } of findMatches(text, bearer, 'earer'))
    if (isMachineMade(value) && !isPlaceholder(value)) yield secretSpan(index + all.length - value.length, index + all.length);
  for (const { 0: all, 1: value = '', index } of findMatches(text, basic, 'asic'))
    if (isUserAndPassword(value)) yield secretSpan(index + all.length - value.length, index + all.length);
  for (const { pattern, needle } of signed)
    for (const { 0: all, 1: value = '', index } of findMatches(text, pattern, needle))
      yield secretSpan(index + all.length - value.length, index + all.length);
  for (const { pattern, needle } of commands)
    for (const { 0: all, 1: value = '', index } of findMatches(text, pattern, needle))
      if (value.length >= 3 && !isPlaceholder(value) && !port.test(value)) {
        const from = index + all.lastIndexOf(value);
        yield namedSpan(text, from, from + value.length);
      }
}

/** Ports and ranges of ports, as options name them: `-p 127.0.0.1:8080:80/tcp`. */
const port = /^(?:[\d.]{7,15}:)?\d{1,5}(?:[:-]\d{1,5}){0,4}(?:\/\w{3})?$/;

/** Whether a value after `Basic` is base64 of `user:password`. */
function isUserAndPassword(value: string): boolean {
  const text = Buffer.from(value, 'base64').toString('latin1');
  return /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(text);
}

/** The value of an option, after the beginning of a command. */
const valueAfter = (command: string): RegExp => new RegExp(String.raw`${command}\\*["']?([^\s"'\\]{3,256})`, 'g');
const rest = String.raw`[^\n|;&]{0,200}?\s`;
const gap = String.raw`[ \t]{1,4}`;

/** Options whose value is a password, in the one notation that each command has. The password is the last group. */
const commands: readonly { readonly name: string; readonly needle: string; readonly pattern: RegExp }[] = [
  {
    name: 'curl and wget',
    needle: ':',
    pattern:
      /(?:\b(?:curl|wget)\b(?:[^\n]|(?<=\\\r?)\n){0,2000}?|\bhttps?\b[^\n]{0,400}?)\s(?:-u|--user|-U|--proxy-user|-a|--auth)[ =]?\\*["']?[^\s"':/]{1,64}:([^\s"'\\]{3,256})/g,
  },
  { name: 'sshpass', needle: 'sshpass', pattern: /\bsshpass[ \t]{1,4}-p[ \t]{0,4}\\*["']?([^\s"'\\]{3,256})/g },
  { name: 'mysql', needle: ' -p', pattern: /\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,160}?\s-p\\*["']?([^\s"'\\]{3,256})/g },
  { name: 'redis-cli', needle: 'redis-cli', pattern: /\bredis-cli\b[^\n|;]{0,160}?\s-a[ \t]{1,4}\\*["']?([^\s"'\\]{3,256})/g },
  {
    name: 'docker and az',
    needle: 'login',
    pattern: /\b(?:docker|podman|helm registry|az|oc|cf)[ \t]{1,4}login\b[^\n|;]{0,160}?\s-p[ \t]{1,4}\\*["']?([^\s"'\\]{3,256})/g,
  },
  { name: 'ipmitool', needle: 'ipmitool', pattern: /\bipmitool\b[^\n|;]{0,160}?\s-P[ \t]{1,4}\\*["']?([^\s"'\\]{3,256})/g },
  { name: 'wpa_passphrase', needle: 'wpa_passphrase', pattern: /\bwpa_passphrase[ \t]{1,4}\S{1,64}[ \t]{1,4}\\*["']?([^\s"'\\]{8,63})/g },
  { name: 'remote desktops', needle: '/p:', pattern: /\b(?:[wx]?freerdp|mstsc)\b[^\n|;]{0,160}?\s\/p:\\*["']?([^\s"'\\]{3,256})/g },
  { name: 'NuGet', needle: '-ApiKey', pattern: /\bnuget\b[^\n|;]{0,160}?\s-ApiKey[ \t]{1,4}\\*["']?([^\s"'\\$]{8,256})/gi },
  { name: 'Cargo', needle: 'cargo login', pattern: /\bcargo[ \t]{1,4}login[ \t]{1,4}\\*["']?([^\s"'\\$-][^\s"'\\$]{7,256})/g },
  { name: 'masks of GitHub', needle: '::add-mask::', pattern: /::add-mask::([^\s"'\\$]{3,256})/g },
  {
    name: 'parameters of AWS',
    needle: 'put-parameter',
    pattern: /\bput-parameter\b(?=[^\n;|]{0,400}SecureString)[^\n;|]{0,200}?\s--value[ =]\\*["']?([^\s"'\\$]{3,256})/g,
  },
  { name: 'openssl', needle: 'pass:', pattern: /\s-pass(?:in|out)?[ \t]{1,4}\\*["']?pass:([^\s"'\\]{3,256})/g },
  { name: 'SQL', needle: 'IDENTIFIED', pattern: /\bIDENTIFIED[ \t]{1,4}(?:WITH[ \t]{1,4}\w{1,40}[ \t]{1,4})?BY[ \t]{1,4}\\*["']([^\s"'\\]{3,256})/g },
  {
    name: 'sudo',
    needle: 'sudo',
    pattern:
      /\becho[ \t]{1,4}(?:-[ne]{1,2}[ \t]{1,4})?\\*["']?([^\s"'\\|]{3,256})\\*["']?[ \t]{0,4}\|[ \t]{0,4}sudo[ \t]{1,4}(?:-[A-Za-z]{1,4}[ \t]{1,4}){0,4}-[A-Za-z]{0,3}S/g,
  },
  { name: 'sudo', needle: 'sudo', pattern: valueAfter(String.raw`\bsudo${gap}-[A-Za-z]{0,3}S\b[^\n|;]{0,200}?<<<[ \t]{0,4}`) },
  {
    name: 'chpasswd',
    needle: 'chpasswd',
    pattern: /\becho[ \t]{1,4}\\*["']?[\w.-]{1,64}:([^\s"'\\|]{3,256})\\*["']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?chpasswd/g,
  },
  {
    name: 'htpasswd',
    needle: 'htpasswd',
    pattern: valueAfter(String.raw`\bhtpasswd${gap}-[A-Za-z]{0,4}b[A-Za-z]{0,4}${gap}\S{1,200}${gap}\S{1,64}${gap}`),
  },
  {
    name: 'PowerShell',
    needle: 'ConvertTo-SecureString',
    pattern: /\bConvertTo-SecureString[ \t]{1,4}(?:-(?:AsPlainText|Force|String)[ \t]{1,4}){0,3}\\*["']([^"'\\\n]{3,256})/g,
  },
  { name: 'keytool', needle: 'pass', pattern: valueAfter(String.raw`\s-(?:(?:src|dest)?(?:store|key)|new)pass${gap}`) },
  { name: 'nmcli', needle: 'nmcli', pattern: valueAfter(String.raw`\bnmcli\b${rest}password${gap}`) },
  { name: 'codes for Wi-Fi', needle: 'WIFI:', pattern: /\bWIFI:(?:[^\n;]{0,80};){0,4}P:((?:[^\s;"'\\]|\\[;:,\\]){3,64});/g },
  { name: 'files of LDAP', needle: 'bindpw', pattern: valueAfter(String.raw`(?:\b|(?<=\\[nrt]))bindpw${gap}`) },
  { name: 'zip', needle: ' -P', pattern: valueAfter(String.raw`\b(?:un)?zip\b${rest}-P${gap}`) },
  { name: '7z and rar', needle: ' -', pattern: valueAfter(String.raw`\b(?:7z[ar]?|(?:un)?rar)\b${rest}-h?p(?=[^\s-])`) },
  { name: 'ldapsearch', needle: 'ldap', pattern: valueAfter(String.raw`\bldap(?:search|modify|add|delete|passwd|whoami)\b${rest}-w${gap}`) },
  { name: 'ssh-keygen', needle: 'ssh-keygen', pattern: /\bssh-keygen\b[^\n|;&]{0,200}?\s-[NP][ \t]{1,4}\\*["']([^"'\\\n]{3,256})/g },
  { name: 'mongosh', needle: 'mongo', pattern: valueAfter(String.raw`\bmongo(?:sh|dump|restore|export|import)?\b${rest}-p${gap}`) },
  { name: 'sqlcmd', needle: ' -P', pattern: valueAfter(String.raw`\b(?:sqlcmd|bcp|isql)\b${rest}-P[ \t]{0,4}`) },
  {
    name: 'sqlplus',
    needle: '@',
    pattern: /\b(?:sqlplus|expdp|impdp|sqlldr)[ \t]{1,4}(?:-[A-Za-z]{1,4}[ \t]{1,4}){0,3}[\w$#.-]{1,64}\/([^\s"'\\@]{3,256})@/g,
  },
  {
    name: 'smbclient',
    needle: '%',
    pattern: /\b(?:smbclient|rpcclient|smbget|net)\b[^\n|;&]{0,200}?\s(?:-U|--user)[ \t=]{0,4}\\*["']?[\w.-]{1,64}%([^\s"'\\]{3,256})/g,
  },
  { name: 'net user', needle: '/add', pattern: /\bnet[ \t]{1,4}user[ \t]{1,4}[\w.-]{1,64}[ \t]{1,4}([^\s"'\\/][^\s"'\\]{2,255})[ \t]{1,4}\/add/g },
  { name: 'twine', needle: 'twine', pattern: valueAfter(String.raw`\btwine${gap}upload\b${rest}-p${gap}`) },
  { name: 'ngrok', needle: 'authtoken', pattern: /\b(?:add-)?authtoken[ \t]{1,4}([\w-]{24,256})/g },
  { name: 'gh', needle: ' set ', pattern: valueAfter(String.raw`\bgh${gap}(?:secret|variable)${gap}set\b${rest}(?:-b|--body)[ =]{1,2}`) },
  { name: 'openssl', needle: 'openssl', pattern: valueAfter(String.raw`\bopenssl\b${rest}-k${gap}`) },
  { name: 'openssl', needle: 'openssl', pattern: valueAfter(String.raw`\bopenssl${gap}passwd(?:${gap}-\w{1,12}){0,4}${gap}(?!-)`) },
  { name: 'lftp', needle: 'lftp', pattern: valueAfter(String.raw`\blftp\b${rest}-u${gap}[^\s,]{1,64},`) },
  {
    name: 'rabbitmqctl',
    needle: 'rabbitmqctl',
    pattern: valueAfter(String.raw`\brabbitmqctl${gap}(?:add_user|change_password)${gap}\S{1,64}${gap}`),
  },
  {
    name: 'secrets of fly and others',
    needle: 'secrets',
    pattern: valueAfter(String.raw`\b(?:fly|flyctl|supabase|railway)${gap}secrets${gap}set${gap}[\w.-]{1,64}=`),
  },
  { name: 'kubectl', needle: '--from-literal', pattern: valueAfter(String.raw`--from-literal[= ]\\*["']?[\w.-]{1,64}=`) },
  { name: 'secrets of aws and az', needle: '--secret-string', pattern: valueAfter('--secret-string[= ]') },
  {
    name: 'secrets of aws and az',
    needle: '--value',
    pattern: valueAfter(String.raw`\b(?:put-parameter\b${rest}--type[= ]SecureString|keyvault${gap}secret${gap}set)\b${rest}--value[= ]`),
  },
  { name: 'security', needle: '-password', pattern: valueAfter(String.raw`\bsecurity${gap}add-\w{1,12}-password\b${rest}-w${gap}`) },
  { name: 'cmdkey', needle: '/pass:', pattern: valueAfter('/pass:') },
  { name: 'net use', needle: '/user:', pattern: valueAfter(String.raw`\bnet${gap}use\b${rest}/user:\S{1,64}${gap}`) },
  {
    name: 'poetry',
    needle: 'poetry',
    pattern: valueAfter(String.raw`\bpoetry${gap}config${gap}(?:http-basic\.[\w.-]{1,64}${gap}\S{1,64}|pypi-token\.[\w.-]{1,64})${gap}`),
  },
  { name: 'bundler', needle: 'bundle', pattern: valueAfter(String.raw`\bbundle${gap}config\b${rest}[\w.-]{1,64}${gap}[\w.-]{1,64}:`) },
  { name: 'squid', needle: 'login=', pattern: valueAfter(String.raw`\blogin=[\w.-]{1,64}:`) },
  { name: 'SQL', needle: '', pattern: /\bIDENTIFIED[ \t]{1,4}BY[ \t]{1,4}(?!PASSWORD\b|VALUES\b|RANDOM\b|EXTERNALLY\b)([\w$#!@%^&*.+-]{3,256})/g },
  { name: 'SQL', needle: '(', pattern: /(?:\bUSING|=)[ \t]{0,4}(?:OLD_)?PASSWORD\([ \t]{0,4}\\*["']([^\s"'\\]{3,256})/gi },
  { name: 'SQL', needle: '=', pattern: /\bSET[ \t]{1,4}PASSWORD\b[^=\n;]{0,120}=[ \t]{0,4}\\*["']([^\s"'\\]{3,256})/gi },
  { name: 'JDBC of Oracle', needle: 'jdbc:oracle', pattern: /\bjdbc:oracle:thin:[\w$#.-]{1,64}\/([^\s"'\\@]{3,256})@/g },
];

/** The commands that `headerSecrets` knows, for the documentation. */
export const commandNames: readonly string[] = commands.map(({ name }) => name);
