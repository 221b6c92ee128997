import { createHmac } from 'node:crypto';
import { Receipts } from '../application/ports.ts';

/**
 * `r1.<score>.<HMAC-SHA256 over match, fan and score>`. Match and fan are not in it: whoever presents one names both, and it
 * is good for no others.
 */
export class SignedReceipts extends Receipts {
  constructor(private readonly secret: string) {
    super();
  }

  override sign(matchId: string, userId: string, score: string): string {
    const signature = createHmac('sha256', this.secret).update(`r1|${matchId}|${userId}|${score}`).digest('base64url');
    return `r1.${score}.${signature}`;
  }
}
