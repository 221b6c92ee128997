import { isUtf8 } from 'node:buffer';
import { closeCodes } from '#contracts/socket-messages';

const MAX_MESSAGE_BYTES = 4096;

type ReadMessage =
  | { readonly kind: 'heartbeat' | 'unknown' }
  | { readonly kind: 'refused'; readonly code: (typeof closeCodes)['notJson' | 'tooLarge'] };

/**
 * Tells what a client's message is: a heartbeat, of an unknown type, or invalid. Safe for any bytes: 4 KB of JSON cannot be
 * nested deep enough to overflow the stack.
 */
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
