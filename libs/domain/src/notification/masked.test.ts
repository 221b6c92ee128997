import { masked, maskedText, searchableTexts } from './masked.ts';

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

test('masked: an address inside a longer text does not make the rest of the text visible', () => {
  expect(masked({ password: 'p@ss.word', text: 'code 1234 for ana@example.hr', code: 123456, quantity: 2 })).toEqual({
    password: '•••',
    text: '•••',
    code: '•••',
    quantity: 2,
  });
});

test('masked: a UUID is an id under any name, except under the name of a secret', () => {
  const id = '0190a000-0000-7000-8000-00000000000a';
  expect(masked({ about: id, token: id })).toEqual({ about: id, token: '•••' });
});

test.each([
  ['550 no such user <ana.horvat@example.hr>', '550 no such user <an•••@example.hr>'],
  ['a@b.hr and "x.y@z.com"', 'a•••@b.hr and "x.•••@z.com"'],
  ['connect ECONNREFUSED 127.0.0.1:25', 'connect ECONNREFUSED 127.0.0.1:25'],
])('maskedText: "%s" becomes "%s"', (text, expected) => {
  expect(maskedText(text)).toBe(expected);
});

const secrets = [
  ['a turn', 'st_0f9a8b7c6d5e4f3a2b1c'],
  ['a place in the line', `qt_${'0123456789abcdef'.repeat(4)}AAAAAAAAAAAAAAAAAAAAAAAA`],
  ['an invitation', 'inv_Zm9vYmFyYmF6cXV4'],
  ['a gate device', 'gd_Zm9vYmFyYmF6cXV4'],
  ['a ticket', 'TRB1.abcDEF.ghi-JKL'],
  ['a JSON Web Token', 'eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl'],
  ['a payment provider', 'sk_live_51AbCdEf'],
  ['a webhook', 'whsec_AbCdEf123'],
  ['a payment', 'pi_3Nx_secret_AbCdEf123'],
  ['a phone', 'dXyZ1234abcd:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx'],
  ['a request', '0190a0000000400080000000000000aa'],
];

test.each(secrets)('the secret of %s is masked inside an error text and inside a field that is shown', (_, secret) => {
  const rest = secret.slice(secret.length / 2);
  expect(maskedText(`refused: ${secret} is unknown`)).toMatch(/^refused: .*•••.* is unknown$/);
  expect(maskedText(`refused: ${secret} is unknown`)).not.toContain(rest);
  expect(JSON.stringify(masked({ event: secret, about: { reference_id: secret } }))).not.toContain(rest);
});

test.each([
  ['connect smtp://mailer:hunter2@mail.example.hr:587', 'hunter2'],
  ['401 {"password": "hunter2"}', 'hunter2'],
  ['GET /send?api_key=hunter2&to=1', 'hunter2'],
  ['Authorization: Bearer hunter2.hunter2', 'hunter2'],
  ['Idempotency-Key: hunter2', 'hunter2'],
])('maskedText: "%s" does not keep "%s"', (text, secret) => {
  expect(maskedText(text)).not.toContain(secret);
});

test('searchableTexts: ids and whole email addresses; no names, tokens or codes', () => {
  const payload = {
    recipient: 'ana.horvat@example.hr',
    user_id: 'u-1',
    fcm_tokens: ['secret-token'],
    payload: {
      order_id: 'ORD-1',
      holder_name: 'Ana Horvat',
      claim_url: 'https://t.hr/invitation#inv_Zm9vYmFy',
      event: 'st_0f9a8b7c6d5e',
    },
  };
  expect(searchableTexts(payload)).toEqual(['ana.horvat@example.hr', 'u-1', 'ORD-1', 'st_•••']);
});

test('masked: of an invitation operators see its ids, its time and the domain of its address, but neither link, token nor name', () => {
  const about = { match_id: 'm-1', quota_id: 'q-1', invitation_id: 'i-1' };
  const token = `inv_${'Zm9v'.repeat(10)}abc`;
  const invitation = {
    template: 'quota_invitation',
    recipient: 'ana.horvat@example.hr',
    about,
    payload: {
      invited_name: 'Ana Horvat',
      tickets_count: 2,
      claim_until: '2026-12-01T11:00:00Z',
      claim_url: `https://t.hr/invitation#${token}`,
    },
  };
  const shown = masked(invitation);
  expect(shown).toMatchObject({
    about,
    recipient: 'an•••@example.hr',
    payload: { invited_name: '•••', tickets_count: 2, claim_until: '2026-12-01T11:00:00Z', claim_url: '•••' },
  });
  // Also as an error text of a provider, which repeats what it was sent.
  expect(maskedText(`refused: ${invitation.payload.claim_url}`)).toBe('refused: https://t.hr/invitation#inv_•••');
  expect(searchableTexts(invitation).join(' ')).not.toMatch(/inv_|Horvat/);
});
