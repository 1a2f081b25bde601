import { findMatches, isMachineMade, isTokenStart, runEnd, secretSpan, type TextSpan } from './span.js';

/** Secrets with a unique shape instead of a prefix. Patterns have only bounded repetitions, so a failed match takes constant time. */
const shapes: readonly (readonly [name: string, needle: string, pattern: RegExp])[] = [
  ['Telegram bot', ':AA', /\d{6,12}:AA[\w-]{30,64}/g],
  ['Discord bot', '.', /[MNO][\w-]{22,28}\.[\w-]{6,7}\.[\w-]{27,64}/g],
  ['Airtable', 'pat', /pat[A-Za-z0-9]{14}\.[0-9a-f]{32,64}/g],
  ['Terraform', '.atlasv1.', /[A-Za-z0-9]{10,20}\.atlasv1\.[\w=-]{40,128}/g],
  // Keys of Azure have a mark of their service near their end. Only the beginning of a run is tried, because base64 has long ones.
  ['Azure key', 'JQQJ99', /(?<![A-Za-z0-9+/]{3})[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}(?![A-Za-z0-9])/g],
  ['Azure key', 'AZDO', /(?<![A-Za-z0-9+/]{3})[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])/g],
  ['Azure key', '==', /(?<![A-Za-z0-9+/]{3})[A-Za-z0-9+/]{76}(?:APIM|ACDb|\+(?:ABa|AMC|ASt))[A-Za-z0-9+/]{5}[AQgw]==/g],
  ['Azure key', '=', /(?<![A-Za-z0-9+/]{3})[A-Za-z0-9+/]{33}(?:AIoT|AzCa|\+(?:ASb|AEh|ARm))[A-Za-z0-9+/]{6}=/g],
  ['Azure key', 'AzSe', /(?<![A-Za-z0-9+/]{3})[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}(?![A-Za-z0-9])/g],
  ['Azure key', '+ACR', /(?<![A-Za-z0-9+/]{3})[A-Za-z0-9+/]{42}\+ACR[A-D][A-Za-z0-9+/]{5}(?![A-Za-z0-9])/g],
  ['Azure client secret', 'Q~', /[\w~.]{3}\dQ~[\w~.-]{31,40}/g],
  ['Bitcoin key', '', /(?:5[1-9A-HJ-NP-Za-km-z]{50}|[KL][1-9A-HJ-NP-Za-km-z]{51})(?![\w/+=-])/g],
  ['extended private key', 'prv', /[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{90,112}/g],
  ['Mailchimp', '-us', /[0-9a-f]{32}-us\d{1,2}/g],
  ['sk- tokens of other issuers', 'sk-', /sk-(?:[a-z0-9]{1,12}-)?(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{20,256}/g],
  ['sk- tokens of other issuers', 'sk-', /sk-(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Z])(?=[\w-]{0,40}[a-z])[\w-]{20,256}/g],
  ['password hash', '$', /\$(?:2[abxy]|5|6|7|y|argon2(?:id|i|d)|scrypt|pbkdf2-sha\d{1,3})\$[\w./$=,+-]{20,256}/g],
  ['password hash', '$', /\$(?:1|apr1)\$[\w./]{1,8}\$[\w./]{22}/g],
  ['password hash', 'SHA', /\{S?SHA\d{0,3}\}[A-Za-z0-9+/]{24,128}={0,2}/g],
  ['Resend', 're_', /re_[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,48}/g],
  ['Stripe client secret', '_secret_', /(?:pi|seti|src|ek|cs_(?:live|test))_[A-Za-z0-9]{14,64}_secret_[A-Za-z0-9]{16,128}/g],
  ['Firebase server key', ':APA91b', /[\w-]{10,24}:APA91b[\w-]{100,180}/g],
  ['Mailgun key', '-', /[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-f-])/g],
  ['webhook of Slack', 'hooks.slack.com', /hooks\.slack\.com\/(?:services|workflows|triggers)\/[\w/-]{20,128}/g],
  ['webhook of Discord', '/api/webhooks/', /discord(?:app)?\.com\/api\/webhooks\/\d{5,24}\/[\w-]{20,128}/g],
  ['webhook of Teams', 'webhook.office.com', /webhook\.office\.com\/webhookb2\/[\w@/-]{40,256}/g],
  ['webhook of Feishu', '/open-apis/bot/', /open\.(?:feishu\.cn|larksuite\.com)\/open-apis\/bot\/v2\/hook\/[\w-]{20,64}/g],
  ['webhook of Zapier', 'hooks.zapier.com', /hooks\.zapier\.com\/hooks\/catch\/\d{3,16}\/\w{5,32}/g],
  ['webhook of WeChat', 'qyapi.weixin', /qyapi\.weixin\.qq\.com\/cgi-bin\/webhook\/send\?key=[\w-]{20,128}/g],
];

/** The names of the secrets that `shapedSecrets` finds, for the documentation. */
export const shapeNames: readonly string[] = [...new Set(shapes.map(([name]) => name)), 'JSON Web Token'];

/** Secrets that are recognized by their shape, including JSON Web Tokens. Linear in the length of the text. */
export function* shapedSecrets(text: string): Generator<TextSpan> {
  for (const [, needle, pattern] of shapes)
    for (const match of findMatches(text, pattern, needle))
      if (isTokenStart(text, match.index) && isMachineMade(match[0])) yield secretSpan(match.index, match.index + match[0].length);
  yield* webTokens(text);
}

const part = /[\w-]+/y;

/** Base64 of `{"`, and of `{` with a space or a break after it. */
const webTokenStart = /ey[JA]|ew(?:o|k|0K)/g;

/** JSON Web Tokens, signed, unsigned and encrypted: a header (`eyJ…`) and two to four more parts. */
function* webTokens(text: string): Generator<TextSpan> {
  webTokenStart.lastIndex = 0;
  for (let match = webTokenStart.exec(text); match; match = webTokenStart.exec(text)) {
    const from = match.index;
    let to = runEnd(text, from, part);
    webTokenStart.lastIndex = Math.max(to, webTokenStart.lastIndex);
    if (
      to - from >= 12 &&
      text[to] === '.' &&
      isTokenStart(text, from) &&
      (match[0] === 'eyJ' || isHeader(text.slice(from, Math.min(to, from + 4_096))))
    ) {
      const first = to;
      for (let parts = 1; parts < 5 && text[to] === '.'; parts++) to = runEnd(text, to + 1, part);
      if (to - first >= 12 && isMachineMade(text.slice(from, from + 64))) yield secretSpan(from, to);
      webTokenStart.lastIndex = to;
    }
  }
}

const isHeader = (run: string): boolean => /"(?:alg|enc|typ|kid)"\s*:/.test(Buffer.from(run, 'base64url').toString('latin1'));
