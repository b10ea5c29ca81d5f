/**
 * Token formats of well-known services, for finding unknown secrets. Only formats that are recognisable by themselves are
 * listed; formats that depend on their surroundings are left to scanners of whole repositories.
 *
 * Sources: the rules of gitleaks 8.28 (config/gitleaks.toml, MIT), GitHub's list of supported secret scanning patterns, and
 * for `ghs_` the tokens that carry a JWT (2026), which have no fixed length.
 */

/** A part of a text that has a secret. */
export interface FoundPlace {
  readonly index: number;
  readonly length: number;
}

interface TokenFormat {
  /** Its common name. */
  readonly name: string;
  /** Every token contains this text or follows it: a cheap check before the expensive one. */
  readonly mark: string;
  readonly pattern: RegExp;
}

/** Repetitions have an end, since an expression needs memory for each character that it may have to give back. */
const FORMATS: readonly TokenFormat[] = [
  { name: 'GitHub token', mark: 'ghp_', pattern: /ghp_[A-Za-z0-9]{36,255}/g },
  { name: 'GitHub token', mark: 'gho_', pattern: /gho_[A-Za-z0-9]{36,255}/g },
  { name: 'GitHub token', mark: 'ghu_', pattern: /ghu_[A-Za-z0-9]{36,255}/g },
  { name: 'GitHub token', mark: 'ghr_', pattern: /ghr_[A-Za-z0-9]{36,255}/g },
  { name: 'GitHub token', mark: 'ghs_', pattern: /ghs_[A-Za-z0-9._-]{36,4000}/g },
  {
    name: 'GitHub token',
    mark: 'github_pat_',
    pattern: /github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}/g,
  },
  {
    name: 'GitLab token',
    mark: 'gl',
    pattern: /\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|oas)-[A-Za-z0-9._-]{20,4000}/g,
  },
  {
    name: 'Anthropic API key',
    mark: 'sk-ant-',
    pattern: /sk-ant-(?:api|admin|oat|ort|sid)[0-9]{2}-[A-Za-z0-9_-]{80,4000}/g,
  },
  {
    name: 'OpenAI API key',
    mark: 'T3BlbkFJ',
    pattern: /\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,100}T3BlbkFJ[A-Za-z0-9_-]{20,100}/g,
  },
  { name: 'Hugging Face token', mark: 'hf_', pattern: /\bhf_[A-Za-z]{34}/g },
  { name: 'AWS access key id', mark: 'AKIA', pattern: /\bAKIA[A-Z2-7]{16}\b/g },
  { name: 'AWS access key id', mark: 'ASIA', pattern: /\bASIA[A-Z2-7]{16}\b/g },
  {
    name: 'AWS secret access key',
    mark: 'aws_secret_access_key',
    pattern: /(?<=aws_secret_access_key["']?\s{0,5}[:=]\s{0,5}["']?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/g,
  },
  {
    name: 'AWS secret access key',
    mark: 'AWS_SECRET_ACCESS_KEY',
    pattern: /(?<=AWS_SECRET_ACCESS_KEY["']?\s{0,5}[:=]\s{0,5}["']?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/g,
  },
  { name: 'Google API key', mark: 'AIza', pattern: /AIza[A-Za-z0-9_-]{35}/g },
  { name: 'Google OAuth secret', mark: 'GOCSPX-', pattern: /GOCSPX-[A-Za-z0-9_-]{28}/g },
  { name: 'Google OAuth token', mark: 'ya29.', pattern: /\bya29\.[A-Za-z0-9_-]{50,4000}/g },
  { name: 'Azure storage key', mark: 'AccountKey=', pattern: /(?<=AccountKey=)[A-Za-z0-9/+]{86}==/g },
  {
    name: 'Slack token',
    mark: 'xox',
    pattern: /\bxox[abeoprs]-(?:[0-9]{10,13}-){1,3}[A-Za-z0-9-]{20,4000}/g,
  },
  {
    name: 'Slack token',
    mark: 'xapp-',
    pattern: /\bxapp-[0-9]-[A-Z0-9]{1,99}-[0-9]{1,99}-[a-z0-9]{1,4000}/g,
  },
  {
    name: 'Slack webhook',
    mark: 'hooks.slack.com/',
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9+/]{43,56}/g,
  },
  { name: 'Stripe key', mark: 'k_live_', pattern: /\b[sr]k_live_[A-Za-z0-9]{16,4000}/g },
  { name: 'npm token', mark: 'npm_', pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  {
    name: 'PyPI token',
    mark: 'pypi-AgEIcHlwaS5vcmc',
    pattern: /pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,4000}/g,
  },
  { name: 'RubyGems key', mark: 'rubygems_', pattern: /rubygems_[a-f0-9]{48}/g },
  { name: 'Docker Hub token', mark: 'dckr_pat_', pattern: /dckr_pat_[A-Za-z0-9_-]{27}/g },
  { name: 'SendGrid key', mark: 'SG.', pattern: /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/g },
  { name: 'DigitalOcean token', mark: '_v1_', pattern: /\bdo[opr]_v1_[a-f0-9]{64}/g },
  { name: 'Vault token', mark: 'hvs.', pattern: /\bhvs\.[A-Za-z0-9_-]{90,4000}/g },
];

/** Any of the marks: asked once, it takes a quarter of the time that they take one by one. */
const ANY_MARK = new RegExp(FORMATS.map(({ mark }) => mark.replaceAll('.', '\\.')).join('|'));

/** The header of a key in PEM or OpenPGP armour, which is followed by its lines. */
const PRIVATE_KEY: TokenFormat = {
  name: 'private key',
  mark: '-----BEGIN ',
  pattern: /-----BEGIN (?:[A-Z0-9]{1,99} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g,
};

/** With fewer different characters it is a placeholder, such as `ghp_xxxxxxxx…`. */
const MIN_DIFFERENT = 8;

/** Finds tokens and headers of private keys, those of each format in order. Placeholders and examples from documentation do not count. */
export function tokensIn(text: string): { name: string; places: Iterable<FoundPlace> }[] {
  return [...FORMATS, PRIVATE_KEY].flatMap(({ name, mark, pattern }) =>
    text.includes(mark) ? [{ name, places: matchesIn(text, pattern) }] : [],
  );
}

function* matchesIn(text: string, pattern: RegExp): Generator<FoundPlace> {
  for (const { 0: token, index } of text.matchAll(pattern))
    if (!isPlaceholder(token)) yield { index, length: token.length };
}

/** The text with every token replaced; headers of private keys stay, since they are not secret. */
export function withoutTokens(text: string, replacement: string): string {
  if (!ANY_MARK.test(text)) return text;
  let rest = text;
  for (const { mark, pattern } of FORMATS) {
    if (rest.includes(mark))
      rest = rest.replace(pattern, (token) => (isPlaceholder(token) ? token : replacement));
  }
  return rest;
}

function isPlaceholder(token: string): boolean {
  return token.endsWith('EXAMPLE') || new Set(token.slice(-30)).size < MIN_DIFFERENT;
}

/** patchsmith's own variables contain none, nor do the action's inputs for limits and globs: `INPUT_MAX-TOTAL-TOKENS`. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) || holdsHeaders(name);
}

/** The headers that a collector of telemetry is sent, a login among them: `OTEL_EXPORTER_OTLP_TRACES_HEADERS`. */
export function holdsHeaders(name: string): boolean {
  return /^OTEL_EXPORTER_OTLP_(?:[A-Z]+_)?HEADERS$/i.test(name);
}

const SECRET_NAME =
  /^(?!PATCHSMITH_|INPUT_(?:MAX|ACCEPT)-).*(?:KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|_(?:PAT|PASS|PWD|AUTH|JWT)$)/i;
