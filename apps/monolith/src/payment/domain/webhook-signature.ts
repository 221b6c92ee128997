/** How old a signed message may be, so that one that was overheard cannot be sent again tomorrow. */
export const SIGNATURE_TOLERANCE_SECONDS = 300;

interface WebhookSignature {
  /** Seconds since 1970, as signed. */
  readonly timestamp: number;
  /** Several while the provider changes its secret. Lower-case hex of 32 bytes each. */
  readonly v1: readonly string[];
}

/** Reads `t=1763450000,v1=5257a8…,v1=…`; schemes other than v1 are ignored, so that nobody talks us into a weaker one. */
export function parseSignatureHeader(header: string): WebhookSignature | undefined {
  const parts = header.split(',').map((part) => part.trim().split('=', 2));
  const timestamps = parts.filter(([name]) => name === 't').map(([, value]) => value ?? '');
  const v1 = parts.filter(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value ?? '')).map(([, value]) => value ?? '');
  const [timestamp, ...more] = timestamps;
  if (timestamp === undefined || more.length > 0 || !/^\d{1,12}$/.test(timestamp) || v1.length === 0) return undefined;
  return { timestamp: Number(timestamp), v1 };
}

/** In both directions: a time far ahead would stay good for as long. */
export function isFresh(timestamp: number, nowMs: number): boolean {
  return Math.abs(nowMs / 1000 - timestamp) <= SIGNATURE_TOLERANCE_SECONDS;
}
