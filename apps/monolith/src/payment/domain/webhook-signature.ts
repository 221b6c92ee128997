/** The maximum age of a signed message. It limits replays of a message that an attacker recorded. */
export const SIGNATURE_TOLERANCE_SECONDS = 300;

interface WebhookSignature {
  /** The time of signing, in seconds since 1970. */
  readonly timestamp: number;
  /** The signatures of scheme v1, each 32 bytes in lower-case hex. There are several while the provider changes its secret. */
  readonly v1: readonly string[];
}

/** Reads `t=1763450000,v1=5257a8…,v1=…`; schemes other than v1 are ignored, so that an attacker cannot choose a weaker one. */
export function parseSignatureHeader(header: string): WebhookSignature | undefined {
  const parts = header.split(',').map((part) => part.trim().split('=', 2));
  const timestamps = parts.filter(([name]) => name === 't').map(([, value]) => value ?? '');
  const v1 = parts.filter(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value ?? '')).map(([, value]) => value ?? '');
  const [timestamp, ...more] = timestamps;
  if (timestamp === undefined || more.length > 0 || !/^\d{1,12}$/.test(timestamp) || v1.length === 0) return undefined;
  return { timestamp: Number(timestamp), v1 };
}

/** True if the time of signing is at most 300 s before or after now. A signature from the future would stay valid for too long. */
export function isFresh(timestamp: number, nowMs: number): boolean {
  return Math.abs(nowMs / 1000 - timestamp) <= SIGNATURE_TOLERANCE_SECONDS;
}
