import { isMachineMade, isTokenStart, isValueStart, runEnd, secretSpan, type TextSpan } from './span.js';

interface Issuer {
  readonly name: string;
  readonly prefixes: readonly string[];
  /** Which characters follow the prefix; letters, digits, `_` and `-` by default. */
  readonly tail?: keyof typeof tails;
  /** Their minimum number; 20 by default. */
  readonly least?: number;
  /** The prefix could also end a longer word or path, so it counts only at the beginning of a value. */
  readonly alone?: true;
}

/** `dotted` and `base64` are for tokens with several parts and for those with padding. */
const tails = {
  url: /[\w-]+/y,
  plain: /[A-Za-z0-9]+/y,
  hex: /[0-9a-fA-F]+/y,
  dotted: /[\w-]+(?:[.~][\w-]+)*/y,
  base64: /[\w+/-]+=*/y,
} as const;

/** Issuers whose tokens have a prefix of their own. A token is the prefix and at least `least` characters. */
export const issuers: readonly Issuer[] = [
  // Models and agents.
  { name: 'Anthropic', prefixes: ['sk-ant-'] },
  { name: 'OpenAI', prefixes: ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-None-'] },
  { name: 'OpenAI', prefixes: ['ek_'], tail: 'hex', least: 32, alone: true },
  { name: 'OpenAI', prefixes: ['sess-'], tail: 'plain', least: 40, alone: true },
  { name: 'OpenRouter', prefixes: ['sk-or-'] },
  { name: 'Google', prefixes: ['AIza'], alone: true },
  { name: 'Google', prefixes: ['GOCSPX-'] },
  { name: 'Google', prefixes: ['AQ.Ab'], least: 30, alone: true },
  { name: 'Google', prefixes: ['GOOG1'], tail: 'plain', least: 40, alone: true },
  { name: 'Google', prefixes: ['ya29.', '1//0', '4/0A'], tail: 'dotted', alone: true },
  { name: 'Hugging Face', prefixes: ['hf_', 'api_org_'], tail: 'plain' },
  { name: 'Groq', prefixes: ['gsk_'] },
  { name: 'xAI', prefixes: ['xai-'] },
  { name: 'Replicate', prefixes: ['r8_'] },
  { name: 'Perplexity', prefixes: ['pplx-'] },
  { name: 'Fireworks', prefixes: ['fw_'], tail: 'plain', alone: true },
  { name: 'Together', prefixes: ['tgp_v1_'] },
  { name: 'Cerebras', prefixes: ['csk-'], tail: 'plain', alone: true },
  { name: 'NVIDIA', prefixes: ['nvapi-'] },
  { name: 'Tavily', prefixes: ['tvly-'] },
  { name: 'Jina', prefixes: ['jina_'] },
  { name: 'Firecrawl', prefixes: ['fc-'], tail: 'hex', alone: true },
  { name: 'Brave', prefixes: ['BSA'], alone: true },
  { name: 'ElevenLabs and others', prefixes: ['sk_'], tail: 'plain', alone: true },
  { name: 'Pinecone', prefixes: ['pcsk_'] },
  { name: 'Voyage', prefixes: ['pa-'], tail: 'url', least: 40, alone: true },
  { name: 'LangSmith', prefixes: ['lsv2_pt_', 'lsv2_sk_', 'ls__'] },
  { name: 'Langfuse', prefixes: ['sk-lf-'] },
  { name: 'E2B', prefixes: ['e2b_'] },
  { name: 'Daytona', prefixes: ['dtn_'] },
  { name: 'RunPod', prefixes: ['rpa_'] },
  { name: 'Context7', prefixes: ['ctx7sk-'] },
  { name: 'Weights & Biases', prefixes: ['wandb_v1_'] },
  { name: 'Kaggle', prefixes: ['KGAT_'] },
  { name: 'LlamaCloud', prefixes: ['llx-'] },
  { name: 'Stemma', prefixes: ['stm_'], least: 24 },
  // Code and packages.
  { name: 'GitHub', prefixes: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'], tail: 'dotted' },
  {
    name: 'GitLab',
    prefixes: [...'glpat gldt glrt glrtr glptt glft glimt glagent glwt glsoat gloas glffct glcbt'.split(' ').map((kind) => `${kind}-`), 'GR1348941'],
    tail: 'dotted',
  },
  { name: 'Bitbucket and Atlassian', prefixes: ['ATBB', 'ATATT3', 'ATCTT3', 'ATOA'], alone: true },
  { name: 'npm', prefixes: ['npm_'], tail: 'plain' },
  { name: 'PyPI', prefixes: ['pypi-'] },
  { name: 'RubyGems', prefixes: ['rubygems_'] },
  { name: 'crates.io', prefixes: ['cio'], tail: 'plain', least: 30, alone: true },
  { name: 'NuGet', prefixes: ['oy2'], tail: 'plain', least: 40, alone: true },
  { name: 'Clojars', prefixes: ['CLOJARS_'] },
  { name: 'Docker', prefixes: ['dckr_pat_', 'dckr_oat_'] },
  { name: 'Artifactory', prefixes: ['AKCp', 'cmVmdGtu'], tail: 'plain', least: 40, alone: true },
  { name: 'Sourcegraph', prefixes: ['sgp_', 'slk_', 'sgamp_', 'sgd_'] },
  { name: 'Buildkite', prefixes: ['bkua_', 'bkaa_', 'bkaj_', 'bkat_', 'bkct_'] },
  { name: 'CircleCI', prefixes: ['CCIPAT_', 'CCIPRJ_'] },
  { name: 'SonarQube', prefixes: ['squ_', 'sqp_', 'sqa_'] },
  { name: 'Postman', prefixes: ['PMAK-'] },
  { name: 'Octopus Deploy', prefixes: ['API-'], tail: 'plain', least: 25, alone: true },
  // Clouds and hosting.
  { name: 'AWS', prefixes: ['AKIA', 'ASIA', 'ABIA', 'ACCA'], tail: 'plain', least: 16, alone: true },
  { name: 'AWS', prefixes: ['ABSK', 'bedrock-api-key-', 'IQoJb3JpZ2luX2Vj', 'FwoGZXIvYXdz'], tail: 'base64', least: 40, alone: true },
  { name: 'Alibaba Cloud', prefixes: ['LTAI'], tail: 'plain', alone: true },
  { name: 'Tencent Cloud', prefixes: ['AKID'], tail: 'plain', least: 30, alone: true },
  { name: 'DigitalOcean', prefixes: ['dop_v1_', 'doo_v1_', 'dor_v1_'] },
  { name: 'AWS', prefixes: ['da2-'], tail: 'plain', least: 26, alone: true },
  { name: 'AWS', prefixes: ['amzn.mws.', 'amzn1.oa2-cs.v1.'], least: 30 },
  { name: 'Cloudflare', prefixes: ['v1.0-'], least: 60, alone: true },
  { name: 'Cloudflare', prefixes: ['cfk_', 'cfut_', 'cfat_'], tail: 'plain', least: 40 },
  { name: 'Vercel', prefixes: ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_', 'vercel_blob_rw_'] },
  { name: 'Netlify', prefixes: ['nfp_', 'nfc_'] },
  { name: 'Fly.io', prefixes: ['fo1_', 'fm1a_', 'fm1r_', 'fm2_'], tail: 'base64' },
  { name: 'Render', prefixes: ['rnd_'], tail: 'plain', alone: true },
  { name: 'Heroku', prefixes: ['HRKU-'] },
  { name: 'Supabase', prefixes: ['sbp_', 'sb_secret_'] },
  { name: 'PlanetScale', prefixes: ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'], tail: 'dotted' },
  { name: 'Neon', prefixes: ['napi_'] },
  { name: 'Neon', prefixes: ['npg_'], tail: 'plain', least: 12 },
  { name: 'Databricks', prefixes: ['dapi'], tail: 'hex', least: 32, alone: true },
  { name: 'Vault', prefixes: ['hvs.', 'hvb.', 'hvr.'] },
  { name: 'Pulumi', prefixes: ['pul-'], tail: 'hex', alone: true },
  { name: 'Doppler', prefixes: ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.'], tail: 'dotted' },
  { name: '1Password', prefixes: ['ops_eyJ'] },
  { name: 'Tailscale', prefixes: ['tskey-'] },
  { name: 'OpenShift', prefixes: ['sha256~'] },
  { name: 'age', prefixes: ['AGE-SECRET-KEY-1', 'AGE-PLUGIN-'] },
  // Services.
  {
    name: 'Slack',
    prefixes: ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxo-', 'xoxc-', 'xoxd-', 'xoxe-', 'xoxe.xox', 'xapp-', 'xwfp-'],
    tail: 'base64',
  },
  { name: 'Stripe', prefixes: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'sk_org_live_', 'sk_org_test_', 'whsec_'], least: 16 },
  { name: 'Square', prefixes: ['sq0atp-', 'sq0csp-'] },
  { name: 'Square', prefixes: ['EAAA'], least: 50, alone: true },
  { name: 'Facebook', prefixes: ['EAAC', 'EAAM', 'EAAG', 'EAAB', 'EAAJ'], tail: 'plain', least: 60, alone: true },
  { name: 'Shopify', prefixes: ['shpat_', 'shpca_', 'shppa_', 'shpss_', 'shptka_'] },
  { name: 'SendGrid', prefixes: ['SG.'], tail: 'dotted', least: 40 },
  { name: 'Brevo', prefixes: ['xkeysib-', 'xsmtpsib-'] },
  { name: 'Mailgun', prefixes: ['key-'], tail: 'hex', least: 32, alone: true },
  { name: 'Twilio', prefixes: ['SK'], tail: 'hex', least: 32, alone: true },
  { name: 'Notion', prefixes: ['ntn_', 'secret_'], tail: 'plain', least: 30 },
  { name: 'Linear', prefixes: ['lin_api_', 'lin_oauth_', 'lin_wh_'] },
  { name: 'Figma', prefixes: ['figd_', 'figo_', 'figu_'] },
  { name: 'Grafana', prefixes: ['glsa_', 'glc_'], tail: 'base64' },
  { name: 'New Relic', prefixes: ['NRAK-', 'NRII-', 'NRJS-'], least: 18 },
  { name: 'Sentry', prefixes: ['sntrys_', 'sntryu_', 'sntrya_'], tail: 'base64' },
  { name: 'PostHog', prefixes: ['phx_', 'phs_'] },
  { name: 'Dynatrace', prefixes: ['dt0c01.', 'dt0s01.', 'dt0s16.'], tail: 'dotted', least: 40 },
  { name: 'Mapbox', prefixes: ['sk.eyJ'], tail: 'dotted', alone: true },
  { name: 'Dropbox', prefixes: ['sl.'], tail: 'dotted', least: 80, alone: true },
  { name: 'Shippo', prefixes: ['shippo_live_', 'shippo_test_'] },
  { name: 'Prefect', prefixes: ['pnu_', 'pnb_'], tail: 'plain' },
  { name: 'HubSpot', prefixes: ['pat-na1-', 'pat-na2-', 'pat-eu1-'], least: 30, alone: true },
  { name: 'Contentful', prefixes: ['CFPAT-'] },
  { name: 'Honeycomb', prefixes: ['hcaik_', 'hcxik_', 'hcbik_'] },
  { name: 'Nylas', prefixes: ['nyk_v0_'] },
  { name: 'Duffel', prefixes: ['duffel_live_', 'duffel_test_'] },
  { name: 'EasyPost', prefixes: ['EZAK', 'EZTK'], tail: 'plain', least: 50, alone: true },
  { name: 'Typeform', prefixes: ['tfp_'], tail: 'dotted' },
  { name: 'ReadMe', prefixes: ['rdme_'] },
];

const issuerByPrefix = new Map<string, Issuer>(issuers.flatMap((issuer) => issuer.prefixes.map((prefix) => [prefix, issuer] as const)));
const anyPrefix = new RegExp(
  [...issuerByPrefix.keys()]
    .sort((a, b) => b.length - a.length)
    .map((prefix) => prefix.replaceAll(/[.\\/^$*+?()[\]{}|]/g, '\\$&'))
    .join('|'),
  'g',
);

/** The number of characters that suffice to recognize a token. */
const enough = 128;

/** A piece of a token at the end of a text: its whole prefix and some more characters. Undefined if the text ends with none. */
export function partialToken(text: string): string | undefined {
  const end = /[\w.~-]{6,512}$/.exec(text.slice(-512))?.[0];
  if (end === undefined) return undefined;
  for (const { 0: prefix, index } of end.matchAll(anyPrefix)) {
    const { alone, tail = 'url' } = issuerByPrefix.get(prefix) as Issuer;
    const start = index + prefix.length;
    if ((alone ? isValueStart : isTokenStart)(end, index) && end.length > start && runEnd(end, start, tails[tail]) === end.length)
      return end.slice(index);
  }
  return undefined;
}

const backward = (text: string): string => [...text].reverse().join('');

/** Prefixes that occur in nothing else when they are read backward. */
const reversedPrefix = new RegExp(
  [...issuerByPrefix.entries()]
    .filter(([prefix, { alone }]) => !alone && prefix.length >= 4)
    .map(([prefix]) => backward(prefix).replaceAll(/[.\\/^$*+?()[\]{}|]/g, '\\$&'))
    .join('|'),
  'g',
);
/** Maximum number of characters of a token that is read backward. */
const longestReversed = 160;

/** Tokens that were written backward. Linear in the length of the text. */
export function* reversedTokens(text: string): Generator<TextSpan> {
  for (const { 0: end, index } of text.matchAll(reversedPrefix)) {
    if (/[A-Za-z0-9]/.test(text[index + end.length] ?? ' ')) continue;
    const prefix = backward(end);
    const to = tokenEnd(prefix + backward(text.slice(Math.max(0, index - longestReversed), index)), 0, prefix);
    if (to !== undefined) yield secretSpan(index + end.length - to, index + end.length);
  }
}

/** Tokens that are recognized by their prefix. Linear in the length of the text. */
export function* prefixedTokens(text: string): Generator<TextSpan> {
  anyPrefix.lastIndex = 0;
  for (let match = anyPrefix.exec(text); match; match = anyPrefix.exec(text)) {
    const to = tokenEnd(text, match.index, match[0]);
    if (to === undefined) continue;
    yield secretSpan(match.index, to);
    anyPrefix.lastIndex = to;
  }
}

/** The end of the token with the prefix at `from`. Undefined if no token begins there. */
function tokenEnd(text: string, from: number, prefix: string): number | undefined {
  const start = from + prefix.length;
  const { tail = 'url', least = 20, alone } = issuerByPrefix.get(prefix) as Issuer;
  if (!(alone ? isValueStart : isTokenStart)(text, from)) return undefined;
  const head = text.slice(start, start + enough);
  const run = head.slice(0, runEnd(head, 0, tails[tail]));
  return run.length < least || !isMachineMade(run) ? undefined : runEnd(text, start, tails[tail]);
}
