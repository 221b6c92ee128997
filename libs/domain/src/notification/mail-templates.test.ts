import type { MailText } from './mail-document.ts';
import { shortTicketId, writeMail, type MailContent } from './mail-templates.ts';
import { kickoffText } from './mail-words.ts';

const links = { ticketsUrl: 'http://127.0.0.1:3000/tickets', transfersUrl: 'http://127.0.0.1:3000/transfers' };
const match = {
  order_id: 'ORD-2026-001234',
  match_name: 'Dinamo - Hajduk',
  kickoff_at: '2026-12-12T19:45:00Z',
  venue: 'Stadion Maksimir',
};
const { order_id: _order, ...facts } = match;
const seat = { sector: 'Zapad A', row: '12', seat: '15' };
const standing = { sector: 'Sjever', row: null, seat: null };
const ticket = { ticket_id: '0190f3a2-7c11-7d32-9f00-5b2e9c4d7e81', holder_name: 'Ana Horvat' };

type Sample = Record<string, unknown>;
/** For each mail template a payload with all of its variables. */
const samples: Record<MailContent['template'], Sample> = {
  order_confirmation: { ...match, tickets: [seat, standing], total_amount: '450.00 EUR' },
  ticket_delivery: { ...match, tickets: [{ ...seat, ...ticket }] },
  refund: { order_id: match.order_id, match_name: match.match_name, total_amount: '120.00 EUR' },
  quota_invitation: {
    ...facts,
    quota_name: 'NK Maksimir',
    tickets_count: 4,
    claim_until: '2026-12-01T11:00:00Z',
    claim_url: 'http://127.0.0.1:3000/quotas/7',
  },
  quota_return: {
    ...facts,
    quota_name: 'NK Maksimir',
    notice: 'week',
    return_at: '2026-12-01T11:00:00Z',
    places_count: 12,
    on_return: 'public',
  },
  transfer_offer: { ...facts, ticket: seat, expires_at: '2026-12-10T11:00:00Z' },
  transfer_answer: { ...facts, ticket: seat, outcome: 'accepted' },
  match_reminder: { ...facts, tickets: [seat] },
  match_changed: {
    ...facts,
    change: 'moved',
    previous_kickoff_at: '2026-12-11T19:45:00Z',
    previous_venue: 'Poljud',
  },
  ops_alert: { about: 'breaker mailgun opened', text: 'mailgun failed 20 times in a row', at: '2026-12-11T19:45:00Z' },
};
/** For each mail template the variables that a job may omit. The mail is then written without the lines that need them. */
const optional: Partial<Record<string, readonly string[]>> = {
  order_confirmation: ['kickoff_at', 'venue'],
  ticket_delivery: ['kickoff_at', 'venue'],
  quota_invitation: ['kickoff_at', 'venue'],
  transfer_offer: ['kickoff_at', 'venue'],
  transfer_answer: ['kickoff_at', 'venue'],
};
const templates = Object.entries(samples).map(([name, sample]) => ({
  name,
  sample,
  render: (payload: Sample): MailText => writeMail({ template: name, payload } as never, links),
}));
const cases = templates.flatMap((template) => (['hr', 'en'] as const).map((locale) => ({ ...template, locale })));

/** Copies of a payload, each with one variable removed: `total_amount`, `tickets.0.row` … */
function withoutEach(sample: Sample): { missing: string; data: Sample }[] {
  return Object.keys(sample).flatMap((field) => {
    const value = sample[field];
    const { [field]: _left, ...rest } = sample;
    const whole = [{ missing: field, data: rest }];
    if (!Array.isArray(value)) return whole;
    return whole.concat(
      withoutEach(value[0] as Sample).map(({ missing, data }) => ({
        missing: `${field}.0.${missing}`,
        data: { ...sample, [field]: [data, ...value.slice(1)] },
      })),
    );
  });
}

describe.each(cases)('mail $name in $locale', ({ name, render, sample, locale }) => {
  test('the mail has a subject and a text without undefined values', () => {
    const mail = render({ ...sample, locale });
    expect(mail.subject.length).toBeGreaterThan(10);
    expect(mail.text).toMatch(/\n$/);
    expect(mail.subject + mail.text + mail.html).not.toMatch(/undefined|null|NaN|\[object/);
  });

  test.each(withoutEach(sample).filter(({ missing }) => !optional[name]?.includes(missing)))(
    'writing the mail without its variable $missing throws',
    ({ data }) => {
      expect(() => render({ ...data, locale })).toThrow();
    },
  );

  test('a mail without its optional variables lacks only the lines that contain them', () => {
    const omitted = optional[name] ?? [];
    const { kickoff_at, venue, ...rest } = sample;
    const data = omitted.length > 0 ? rest : sample;
    const omittedLines = omitted.length > 0 ? [kickoffText(String(kickoff_at), locale), String(venue)] : [];
    const fullText = render({ ...sample, locale }).text.split('\n');
    const mail = render({ ...data, locale });
    expect(mail.text.split('\n')).toEqual(fullText.filter((line) => !omittedLines.includes(line)));
    expect(fullText.length - mail.text.split('\n').length).toBe(omitted.length);
    expect(mail.text).not.toContain('\n\n\n');
    expect(mail.subject + mail.text + mail.html).not.toMatch(/undefined|null|NaN|\[object|<br><br><br>/);
  });

  test('a line break inside a variable does not start a new line in the mail', () => {
    const mail = render({ ...sample, match_name: 'Dinamo\r\nBcc: everybody@example.com', locale });
    expect(`${mail.subject}\n${mail.text}`).not.toMatch(/^Bcc:/m);
  });
});

test('mail order_confirmation in Croatian has exactly this text', () => {
  const data = { ...match, tickets: [seat, standing], total_amount: '450.00 EUR', locale: 'hr' as const };
  expect(writeMail({ template: 'order_confirmation', payload: data }, links)).toEqual({
    html: expect.stringContaining('Narudžba ORD-2026-001234 je plaćena.') as string,
    subject: 'Narudžba ORD-2026-001234 je potvrđena: Dinamo - Hajduk',
    text: [
      'Hvala na kupnji!',
      'Narudžba ORD-2026-001234 je plaćena.',
      '',
      'Dinamo - Hajduk',
      'subota, 12. prosinca 2026. u 20:45',
      'Stadion Maksimir',
      '',
      '2 ulaznice:',
      '  - Zapad A, red 12, mjesto 15',
      '  - Sjever, stajanje',
      '',
      'Ukupno: 450,00 EUR',
      '',
      'Ulaznice stižu u posebnoj poruci, a naći ćete ih i ovdje: http://127.0.0.1:3000/tickets',
      '',
    ].join('\n'),
  });
});

test('every mail template gives different mails in Croatian and English', () => {
  for (const { render, sample } of templates) {
    expect(render({ ...sample, locale: 'hr' })).not.toEqual(render({ ...sample, locale: 'en' }));
  }
});

test('mail ticket_delivery has seat, holder, short ticket id and the link to the tickets, but no part of the ticket code', () => {
  const data = { ...match, locale: 'en' as const, tickets: [{ ...seat, ...ticket, code: 'TRB1.secret-part-of-the-code' }] };
  const { text } = writeMail({ template: 'ticket_delivery', payload: data }, links);
  expect(text).toContain('Zapad A, row 12, seat 15: Ana Horvat (ticket 9C4D7E81)');
  expect(text).toContain(links.ticketsUrl);
  expect(text).not.toContain('secret');
});

test.each([
  ['en', 'G4', '- gate G4, Zapad A, row 12, seat 15: Ana Horvat'],
  ['hr', 'G4', '- ulaz G4, Zapad A, red 12, mjesto 15: Ana Horvat'],
  ['en', null, '- Zapad A, row 12'],
] as const)(
  'mail ticket_delivery in locale %s for a sector with gate %s (null: none) has the line "%s"',
  (locale, gate, line) => {
    const data = { ...match, locale, tickets: [{ ...seat, ...ticket, gate }] };
    expect(writeMail({ template: 'ticket_delivery', payload: data }, links).text).toContain(line);
  },
);

test('shortTicketId: the random end of the ticket id, not the time at its start', () => {
  expect(shortTicketId('0190f3a2-7c11-7d32-9f00-5b2e9c4d7e81')).toBe('9C4D7E81');
});

test('mail match_changed: the subject says "New venue" if the kickoff is unchanged', () => {
  const sample = { ...samples.match_changed, previous_kickoff_at: facts.kickoff_at };
  const subjects = (['hr', 'en'] as const).map(
    (locale) => writeMail({ template: 'match_changed', payload: { ...sample, locale } as never }, links).subject,
  );
  expect(subjects).toEqual(['Promjena mjesta: Dinamo - Hajduk', 'New venue: Dinamo - Hajduk']);
});

test('mail match_changed of a cancelled match has its own subject and the escaped reason, and no link to tickets', () => {
  const payload = { ...samples.match_changed, change: 'cancelled' } as never;
  for (const [locale, subject] of [
    ['hr', 'Otkazano: Dinamo - Hajduk'],
    ['en', 'Cancelled: Dinamo - Hajduk'],
  ] as const) {
    const mail = writeMail({ template: 'match_changed', payload: { ...(payload as object), locale } as never }, links);
    expect(mail.subject).toBe(subject);
    expect(mail.html).not.toContain('href');
    const mailWithReason = writeMail(
      { template: 'match_changed', payload: { ...(payload as object), locale, reason: 'Oluja <b>' } as never },
      links,
    );
    expect(mail.text).not.toContain('Oluja');
    expect(mailWithReason.text).toContain('Oluja <b>');
    expect(mailWithReason.html).toContain('Oluja &lt;b&gt;');
  }
});

test.each([
  ['hr', '1.234,50 EUR'],
  ['en', 'EUR 1,234.50'],
] as const)('mails order_confirmation and refund in locale %s have the amount 1234.50 EUR as "%s"', (locale, amount) => {
  for (const template of ['order_confirmation', 'refund'] as const) {
    const payload = { ...samples[template], total_amount: '1234.50 EUR', locale } as never;
    const { text, html } = writeMail({ template, payload }, links);
    expect(text).toContain(` ${amount}`);
    expect(html).toContain(` ${amount}`);
    expect(text + html).not.toContain('1234.50');
  }
});

test('mail refund to a fan who got the tickets by transfer says how many tickets, but neither the order number nor the amount', () => {
  for (const [locale, subject] of [
    ['hr', 'Poništeno: 2 ulaznice za Dinamo - Hajduk'],
    ['en', 'No longer valid: 2 tickets for Dinamo - Hajduk'],
  ] as const) {
    const mail = writeMail({ template: 'refund', payload: { ...samples.refund, received: 2, locale } as never }, links);
    expect(mail.subject).toBe(subject);
    expect(mail.text + mail.html).not.toMatch(/ORD-|120/);
  }
});
