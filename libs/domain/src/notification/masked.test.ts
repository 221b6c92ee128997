import { masked, maskedText } from './masked.ts';

test('masked: ids, kinds and times stay; addresses, names, tokens and ticket codes are masked', () => {
  const job = {
    template: 'ticket_delivery',
    user_id: 'u-1',
    recipient: 'ana.horvat@example.hr',
    fcm_tokens: ['secret-token'],
    payload: { order_id: 'ORD-1', tickets: [{ ticket_id: 't-1', holder_name: 'Ana Horvat', code: 'TRB1.x' }] },
    attempts: 0,
    created_at: '2026-11-18T12:00:00Z',
  };
  expect(masked(job)).toEqual({
    ...job,
    recipient: 'an•••@example.hr',
    fcm_tokens: ['•••'],
    payload: { order_id: 'ORD-1', tickets: [{ ticket_id: 't-1', holder_name: '•••', code: '•••' }] },
  });
});

test.each([
  ['550 no such user <ana.horvat@example.hr>', '550 no such user <an•••@example.hr>'],
  ['a@b.hr and "x.y@z.com"', 'a•••@b.hr and "x.•••@z.com"'],
  ['connect ECONNREFUSED 127.0.0.1:25', 'connect ECONNREFUSED 127.0.0.1:25'],
])('maskedText: "%s" becomes "%s"', (text, expected) => {
  expect(maskedText(text)).toBe(expected);
});
