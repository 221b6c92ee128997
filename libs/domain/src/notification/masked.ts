/**
 * Names of the fields that are not masked: ids, kinds and times. They may identify a fan or an order, but contain no contact data.
 */
const SHOWN_FIELDS =
  /(^|_)(id|ids|class|type|template|locale|priority|attempts|max_attempts|destination|at|until|event|queue|match_name|order_number|venue)$/i;
const SHOWN_CAMEL_CASE_FIELDS = /(Id|Ids|At)$/;
/** Names of fields whose value is always masked, even a number or a UUID. */
const SECRET_FIELDS = /code|pin$|password|secret|token|key$/i;
const EMAIL_ADDRESS = /([^\s@<"']{1,2})[^\s@<"']*@([^\s@>"']+)/g;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ONLY_AN_EMAIL_ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@.]+$/;

const MASK = '•••';

/**
 * Secrets inside other text. Error texts of providers repeat what they were sent: tokens, codes, keys, passwords in URLs.
 */
const SECRETS: readonly [RegExp, string][] = [
  // Our own tokens: turn, line, invitation, gate device.
  [/\b(st|qt|inv|gd)_[\w-]{8,}/g, `$1_${MASK}`],
  // Ticket codes.
  [/\bTRB\d+\.[\w.-]+/g, MASK],
  // JSON Web Tokens, and the keys and client secrets of payment providers.
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, MASK],
  [/\b(sk|rk|pk)_(live|test)_\w+/g, `$1_$2_${MASK}`],
  [/\bwhsec_[\w+/=]+/g, `whsec_${MASK}`],
  [/_secret_\w+/g, `_secret_${MASK}`],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, `$1 ${MASK}`],
  // `user:password@` in a URL.
  [/(\w:\/\/)[^\s@/"']+@/g, `$1${MASK}@`],
  // The token of a phone at Firebase.
  [/[\w-]{8,}:APA91[\w-]+/g, MASK],
  // A value that has a name, in a query string, in JSON or in prose: `password=…`, `"token": "…"`.
  [/((?:password|passwd|\bpin|secret|token|api[_-]?key|idempotency[_-]?key)["']?\s*[=:]\s*["']?)[^\s"'&,;}]+/gi, `$1${MASK}`],
  // An idempotency key: a UUID without hyphens.
  [/\b[0-9a-f]{32}\b/g, MASK],
];

/** Masks the payload of a job for display: hides addresses, names, tokens and ticket codes; shows ids, kinds and times. */
export function masked(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, name));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, masked(item, key)]));
  if (typeof value === 'number' && SECRET_FIELDS.test(name)) return MASK;
  if (typeof value !== 'string') return value;
  if (SHOWN_FIELDS.test(name) || SHOWN_CAMEL_CASE_FIELDS.test(name)) return withoutSecrets(value);
  if (SECRET_FIELDS.test(name)) return MASK;
  // A UUID is an id, whatever its field is called: none of our secrets is one.
  if (UUID.test(value)) return value;
  return ONLY_AN_EMAIL_ADDRESS.test(value) ? maskedText(value) : MASK;
}

/** Masks email addresses and secrets in free text, for example in an error message. */
export function maskedText(text: string): string {
  return withoutSecrets(text).replaceAll(EMAIL_ADDRESS, `$1${MASK}@$2`);
}

/** Masks secrets in free text; email addresses stay. */
export function withoutSecrets(text: string): string {
  return SECRETS.reduce((clean, [pattern, replacement]) => clean.replace(pattern, replacement), text);
}

/**
 * The texts of a payload in which operators may search: what `masked` shows, and whole email addresses. A search in the other
 * texts would let a caller find out what they contain, letter by letter.
 */
export function searchableTexts(value: unknown, name = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => searchableTexts(item, name));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, item]) => searchableTexts(item, key));
  if (typeof value !== 'string') return [];
  const shown = masked(value, name);
  if (shown === MASK) return [];
  return [withoutSecrets(value)];
}
