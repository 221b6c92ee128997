import { isUtf8 } from 'node:buffer';
import { closeCodes } from '#contracts/socket-messages';

const MAX_MESSAGE_BYTES = 4096;

type ReadMessage =
  | { readonly kind: 'heartbeat' | 'unknown' }
  | { readonly kind: 'refused'; readonly code: (typeof closeCodes)['notJson' | 'tooLarge'] };

/** What one message of a client means. Pure, and safe on any bytes: 4 KB of JSON cannot be deep enough to hurt. */
export function readClientMessage(data: Buffer, isBinary: boolean): ReadMessage {
  if (data.length > MAX_MESSAGE_BYTES) return { kind: 'refused', code: closeCodes.tooLarge };
  if (isBinary || !isUtf8(data)) return { kind: 'refused', code: closeCodes.notJson };
  let message: unknown;
  try {
    message = JSON.parse(data.toString('utf8'));
  } catch {
    return { kind: 'refused', code: closeCodes.notJson };
  }
  if (message === null || typeof message !== 'object' || Array.isArray(message))
    return { kind: 'refused', code: closeCodes.notJson };
  return { kind: (message as { type?: unknown }).type === 'heartbeat' ? 'heartbeat' : 'unknown' };
}
