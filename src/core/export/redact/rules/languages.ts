import type { NameKind } from './names.js';
import { namedSpan, type TextSpan } from './span.js';
import { isSecretValue } from './values.js';

/** Words for a password in other languages, in lower case. `names.ts` has those that end English names as well. */
const passwordWords = [
  ...['密码', '密碼', '口令', 'パスワード', 'パスフレーズ', '暗証番号', '비밀번호', '패스워드', '암호'],
  ...['пароль', 'пароля', 'паролем', 'кодовое слово', 'парола', 'лозинка', 'κωδικός πρόσβασης', 'συνθηματικό'],
  ...['contraseña', 'contrasena', 'contrasenya', 'senha', 'palavra-passe', 'mot de passe', 'parola d’ordine', "parola d'ordine", 'parolă', 'parola'],
  ...['kennwort', 'wachtwoord', 'lösenord', 'losenord', 'passord', 'adgangskode', 'kodeord', 'salasana', 'lykilorð', 'jelszó', 'jelszo'],
  ...['hasło', 'haslo', 'heslo', 'zaporka', 'lozinka', 'geslo', 'slaptažodis', 'parool', 'şifre', 'sifre', 'mật khẩu', 'kata sandi'],
  ...['รหัสผ่าน', 'पासवर्ड', 'পাসওয়ার্ড', 'கடவுச்சொல்', 'كلمة المرور', 'كلمة السر', 'رمز عبور', 'گذرواژه', 'סיסמה', 'סיסמא'],
];
const keyWords = [
  ...['密钥', '密鑰', '秘钥', '令牌', '访问凭证', 'アクセスキー', 'シークレットキー', '秘密鍵', 'トークン'],
  ...['비밀키', '비밀 키', '액세스 키', '토큰', 'api 키'],
  ...['токен', 'секретный ключ', 'ключ api', 'api-ключ', 'clave secreta', 'clave api', 'clave de api', 'chave secreta', 'chave de api', 'chave api'],
  ...['clé secrète', 'clé api', "clé d'api", 'clé d’api', 'jeton', 'zugangsschlüssel', 'api-schlüssel', 'geheimschlüssel'],
  ...['chiave segreta', 'chiave api'],
];
const kinds = new Map<string, NameKind>([
  ...passwordWords.map((word) => [word, 'password'] as const),
  ...keyWords.map((word) => [word, 'key'] as const),
]);

const words = [...kinds.keys()]
  .sort((a, b) => b.length - a.length)
  .map((word) => word.replaceAll(' ', '[ \\u00a0]'))
  .join('|');
/** A word, a sign (`：` is the colon of Chinese and Japanese) or "is", and a value up to a space, a quote or punctuation. */
const assignment = new RegExp(
  `(${words})(?:\\\\*["'\`”’」』]|\\*\\*)?[ \\t]{0,4}([:：=＝]|是|为|為|は|(?<=[ \\t])(?:es|é|est|ist|är|er|jest)(?=[ \\t]))(?:\\*\\*)?[ \\t]{0,4}(\\\\*["'\`“‘「『]?)([\\x21-\\x7e]{4,512})`,
  'giu',
);
const isFullWidth = /[：＝]/;
/** Characters at the end of a value that belong to the surrounding text. */
const rest = /(?:\\*["'`<>()[\]{},;]|\\[nrt]).*$|[.!?]+$/s;

/** Values after names of secrets in other languages: `密码：hunter2`, `пароль: hunter2`. Linear in the length of the text. */
export function* foreignSecrets(text: string): Generator<TextSpan> {
  if (!/[^ -~\s]|senha|heslo|parol|kennwort|wachtwoord|passord|kodeord|adgangs|salasana|haslo|mot de passe/i.test(text)) return;
  assignment.lastIndex = 0;
  for (let match = assignment.exec(text); match; match = assignment.exec(text)) {
    const [all, word = '', sign = '', quote = '', run = ''] = match;
    const from = match.index + all.length - run.length;
    const value = run.replace(rest, '');
    assignment.lastIndex = from + Math.max(1, value.length);
    if (isOwnWord(text, match.index, word) && isSecretOf(word, value, quote !== '' || isFullWidth.test(sign)))
      yield namedSpan(text, from, from + value.length);
  }
}

/** Whether a word is not the end of a longer one, in scripts that put spaces between words. */
const isOwnWord = (text: string, at: number, word: string): boolean =>
  /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]/u.test(word) || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? ' ');

/** A single word is a password only in quotes or in another script than its name: `senha: obrigatória` means that one is required. */
function isSecretOf(word: string, value: string, isQuoted: boolean): boolean {
  const kind = kinds.get(word.toLowerCase().replaceAll('\u00a0', ' ')) ?? 'password';
  const isWord = /^[A-Za-z]+$/.test(value) && /^[\p{sc=Latin}\s'’-]+$/u.test(word);
  return !(isWord && !isQuoted) && isSecretValue(value, kind, isQuoted ? 'quoted' : 'plain');
}

/** The kind of a name in another language, or undefined if it names no secret. */
export const kindOfForeignName = (name: string): NameKind | undefined => kinds.get(name.trim().toLowerCase());
