import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Receipts } from '../application/ports.ts';

const RECEIPT_PATTERN = /^r1\.(\d{1,16})\.[A-Za-z0-9_-]{43}$/;

/**
 * Receipts of the form `r1.<score>.<HMAC-SHA256 over match, fan and score>`. A receipt does not contain match and fan: the request
 * names them, and the signature is valid only for this match and fan. The first secret signs; receipts signed with any of the others
 * are genuine too, because they were signed before the secret was replaced.
 */
export class SignedReceipts implements Receipts {
  constructor(private readonly secrets: readonly [string, ...string[]]) {}

  sign(matchId: string, userId: string, score: string): string {
    return signedReceipt(this.secrets[0], matchId, userId, score);
  }

  read(matchId: string, userId: string, receipt: string): string | undefined {
    const score = RECEIPT_PATTERN.exec(receipt)?.[1];
    if (score === undefined) return undefined;
    const given = Buffer.from(receipt);
    const isGenuine = this.secrets.some((secret) => {
      const genuine = Buffer.from(signedReceipt(secret, matchId, userId, score));
      return genuine.length === given.length && timingSafeEqual(genuine, given);
    });
    return isGenuine ? score : undefined;
  }
}

function signedReceipt(secret: string, matchId: string, userId: string, score: string): string {
  const signature = createHmac('sha256', secret).update(`r1|${matchId}|${userId}|${score}`).digest('base64url');
  return `r1.${score}.${signature}`;
}
