import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Receipts } from '../application/ports.ts';

const RECEIPT_PATTERN = /^r1\.(\d{1,16})\.[A-Za-z0-9_-]{43}$/;

/**
 * Receipts of the form `r1.<score>.<HMAC-SHA256 over match, fan and score>`. A receipt does not contain match and fan: the request
 * names them, and the signature is valid only for this match and fan.
 */
export class SignedReceipts implements Receipts {
  constructor(private readonly secret: string) {}

  sign(matchId: string, userId: string, score: string): string {
    const signature = createHmac('sha256', this.secret).update(`r1|${matchId}|${userId}|${score}`).digest('base64url');
    return `r1.${score}.${signature}`;
  }

  read(matchId: string, userId: string, receipt: string): string | undefined {
    const score = RECEIPT_PATTERN.exec(receipt)?.[1];
    if (score === undefined) return undefined;
    const genuine = Buffer.from(this.sign(matchId, userId, score));
    const given = Buffer.from(receipt);
    return genuine.length === given.length && timingSafeEqual(genuine, given) ? score : undefined;
  }
}
