import type { BroadcastJob, EmailJob, PushJob } from '#contracts/queue-jobs';
import { newId } from '#platform/ids';

/** A ticket mail job as the monolith writes it. Each call creates a new message. */
export function ticketMail(changes: Partial<EmailJob> = {}): EmailJob {
  return {
    job_id: newId(),
    type: 'email',
    template: 'ticket_delivery',
    recipient: 'ana@example.com',
    payload: {
      order_id: 'ORD-2026-001234',
      match_name: 'Dinamo - Hajduk',
      kickoff_at: '2026-12-12T19:45:00Z',
      venue: 'Stadion Maksimir',
      tickets: [
        { ticket_id: newId(), holder_name: 'Ana Horvat', sector: 'Zapad A', row: '12', seat: '15', code: 'TRB1.full-code' },
      ],
      locale: 'hr',
    },
    created_at: new Date().toISOString(),
    attempts: 0,
    max_attempts: 3,
    ...changes,
  } as EmailJob;
}

/** A "your turn" push job as the monolith writes it. Each call creates a new message. */
export function turnPush(changes: Partial<PushJob> = {}): PushJob {
  return {
    job_id: newId(),
    type: 'push',
    template: 'queue_your_turn',
    user_id: newId(),
    fcm_tokens: [`token-${newId()}`],
    payload: { title: 'Na redu ste', body: 'Imate 20 minuta.', data: { action: 'open_checkout' } },
    priority: 'high',
    created_at: new Date().toISOString(),
    attempts: 0,
    max_attempts: 3,
    ...changes,
  };
}

/** The push jobs of a broadcast: `count` ranges of `size` devices each. */
export function rangePushes(
  broadcastId: string,
  { count, size, ...changes }: { count: number; size: number } & Partial<BroadcastJob>,
): BroadcastJob[] {
  return Array.from({ length: count }, (_, n) => {
    const { user_id: _user, fcm_tokens: _tokens, ...push } = turnPush({ template: 'match_changed', priority: 'normal' });
    return { ...push, ...changes, broadcast_id: broadcastId, range: { from: n * size, to: (n + 1) * size } };
  });
}
