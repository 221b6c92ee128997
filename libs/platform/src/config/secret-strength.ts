/** A secret of ours is at least as hard to guess as this many random bytes. */
const MIN_BYTES = 16;
/** A text like `xxxx…` or `abcabc…` has many bytes, but can be guessed. */
const MIN_DIFFERENT_BYTES = 8;

const hex = /^([0-9a-f]{2})+$/i;
const base64 = /^[\w+/-]+={0,2}$/;

/**
 * The bytes that the text stands for, in each spelling that it can be read in: as UTF-8, in hex, in base64 or base64url. Most texts in
 * hex can be read in base64 too, so no spelling is preferred. Node ignores what is not base64, for example spaces.
 */
function readings(text: string): Buffer[] {
  return [Buffer.from(text), Buffer.from(text, 'base64'), ...(hex.test(text) ? [Buffer.from(text, 'hex')] : [])];
}

/** True if the secret is one of these public texts, in any spelling of either. */
export function isPublicSecret(text: string, publicTexts: readonly string[]): boolean {
  const known = publicTexts.flatMap(readings);
  return readings(text).some((bytes) => known.some((other) => bytes.equals(other)));
}

/** True if the secret is easy to guess in one of its spellings: too short, or made of too few different bytes. */
export function isWeakSecret(text: string): boolean {
  const spelled = [Buffer.from(text), ...(base64.test(text) ? readings(text).slice(1) : [])];
  return spelled.some((bytes) => bytes.length < MIN_BYTES || new Set(bytes).size < MIN_DIFFERENT_BYTES);
}
