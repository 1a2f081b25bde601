/** Whether a value is only a placeholder for a secret: a variable, a template, asterisks, `<your key>`, or a word such as `null`. */
export function isPlaceholder(value: string): boolean {
  return patterns.some((pattern) => pattern.test(value)) || words.has(value.toLowerCase());
}

const patterns = [
  /^\[(?:secret|path|email|ip)-\d+\]/,
  /^\[?redacted\b/i,
  /^\$[A-Za-z_{(]/,
  /^%[A-Za-z_][A-Za-z_\d]*%$|^%[sdvq]$|^%\(/,
  /^\{+\s*[$\w.]/,
  /^#\{/,
  /^<[^>]*>?$/,
  /^\(.*\)$/,
  /^(.)\1*$/,
  /^[*•.…_x-]+$/i,
  /\*{4,}|•{3,}|…|\.{3}/,
  /^(?:your|my|the|some|an?|insert|enter|add|put|paste|replace)[-_. ]/i,
  /^(?:example|sample|dummy|fake|placeholder|changeme|change[-_]me|replace[-_]?me|todo|tbd|none|nil)\b/i,
  /^(?:op|vault|arn|ref\+|secretref|ssm|sops|gcp-?sm|awssm|env|file|keyring|keychain):/i,
  /^(?:process\.env|os\.environ|import\.meta|env\.|config\.|settings\.|secrets\.|vars\.|var\.|data\.|local\.|module\.)/,
  /^(?:u?int|float|bigu?int)\d{1,3}(?:array|_t)?$/i,
  /^!(?:Ref|Sub|GetAtt|vault|secret|env)/,
];

const words = new Set([
  ...['null', 'none', 'nil', 'undefined', 'true', 'false', 'yes', 'no', 'on', 'off', 'unset', 'empty', 'n/a', 'na', 'unknown', 'missing'],
  ...['string', 'str', 'text', 'bytes', 'byte[]', 'int', 'integer', 'number', 'bool', 'boolean', 'any', 'object', 'array', 'char', 'varchar', 'date'],
  ...['required', 'optional', 'default', 'hidden', 'masked', 'invalid', 'valid', 'expired', 'changed', 'set', 'self', 'this', 'function', 'async'],
  ...['configured', 'provided', 'available', 'unavailable', 'disabled', 'enabled', 'environment', 'installed', 'supported', 'identifier'],
  ...['anonymous', 'development', 'production', 'authorization', 'unauthorized', 'placeholder', 'hardcoded', 'generated', 'inherited'],
  ...['input', 'output', 'value', 'values', 'field', 'type', 'name', 'key', 'keys', 'user', 'username', 'email', 'login', 'form', 'label'],
]);
