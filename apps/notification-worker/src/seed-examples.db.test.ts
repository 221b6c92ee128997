import type { JobQueue } from '#contracts/queue-jobs';
import type { Job } from 'bullmq';
import { inState, runWorker, type RunningWorker } from './testing/running-worker.ts';

// The two example jobs of the specification, unchanged, so that producers written from the specification work.

const MAIL = `{
  "job_id": "job_abc123",
  "type": "email",
  "template": "order_confirmation",
  "recipient": "user@example.com",
  "payload": {
    "order_id": "ORD-2026-001234",
    "match_name": "Croatia vs Italy",
    "tickets": [
      {"sector": "West A", "row": "12", "seat": "15"}
    ],
    "total_amount": "450.00 EUR"
  },
  "created_at": "2026-09-15T14:00:00Z",
  "attempts": 0,
  "max_attempts": 3
}`;

const PUSH = `{
  "job_id": "job_xyz789",
  "type": "push",
  "template": "queue_your_turn",
  "user_id": "550e8400-e29b-41d4-a716-446655440000",
  "fcm_tokens": ["token1", "token2"],
  "payload": {
    "title": "Your turn!",
    "body": "You have 20 minutes to complete your purchase",
    "data": {
      "match_id": "660e8400-e29b-41d4-a716-446655440001",
      "action": "open_checkout"
    }
  },
  "priority": "high",
  "created_at": "2026-09-15T14:00:00Z"
}`;

let worker: RunningWorker;

beforeAll(async () => {
  worker = await runWorker();
});
afterAll(() => worker.close());

/** Adds the job as a program of somebody else would: without our job options and ids. */
const addJob = (queue: JobQueue, json: string, changes: Record<string, unknown> = {}): Promise<Job> =>
  worker.queue(queue).add('example', { ...(JSON.parse(json) as object), ...changes });

test('the example mail is sent in Croatian, and its text omits the date and venue that the job does not have', async () => {
  await inState(await addJob('email', MAIL), 'completed');
  const mails = await worker.mailbox({ to: 'user@example.com' });
  expect(mails.map(({ template, subject, text }) => [template, subject, text])).toEqual([
    [
      'order_confirmation',
      'Narudžba ORD-2026-001234 je potvrđena: Croatia vs Italy',
      [
        'Hvala na kupnji!',
        'Narudžba ORD-2026-001234 je plaćena.',
        '',
        'Croatia vs Italy',
        '',
        '1 ulaznica:',
        '  - West A, red 12, mjesto 15',
        '',
        'Ukupno: 450,00 EUR',
        '',
        'Ulaznice stižu u posebnoj poruci, a naći ćete ih i ovdje: http://127.0.0.1:3000/tickets',
        '',
      ].join('\n'),
    ],
  ]);
});

test.each(['push', 'push-priority'] as const)(
  'the example push in queue %s reaches both devices with its text',
  async (queue) => {
    const changes = queue === 'push' ? {} : { job_id: 'job_xyz790', fcm_tokens: ['token3', 'token4'] };
    await inState(await addJob(queue, PUSH, changes), 'completed');
    for (const token of queue === 'push' ? ['token1', 'token2'] : ['token3', 'token4']) {
      const pushes = await worker.mailbox({ to: token });
      expect(pushes).toMatchObject([
        {
          channel: 'push',
          template: 'queue_your_turn',
          user_id: '550e8400-e29b-41d4-a716-446655440000',
          subject: 'Your turn!',
          text: 'You have 20 minutes to complete your purchase',
        },
      ]);
    }
  },
);

test('a ticket mail whose job has no date and venue is sent, with the files of each ticket', async () => {
  const ticket = { sector: 'West A', row: '12', seat: '15', holder_name: 'Ana', code: 'TRB1.x' };
  const tickets = [{ ...ticket, ticket_id: '770e8400-e29b-41d4-a716-446655440000' }];
  const payload = { order_id: 'ORD-2026-001235', match_name: 'Croatia vs Italy', tickets, locale: 'en' };
  const changes = { job_id: 'job_abc124', template: 'ticket_delivery', recipient: 'other@example.com', payload };
  await inState(await addJob('email', MAIL, changes), 'completed');
  const [mail] = await worker.mailbox({ to: 'other@example.com' });
  expect(mail?.text.split('\n').slice(0, 4)).toEqual(['1 ticket of order ORD-2026-001235', '', 'Croatia vs Italy', '']);
  expect(mail?.attachments).toEqual(['ticket-55440000.pdf', 'ticket-55440000.png']);
});
