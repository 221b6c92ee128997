import type { Ticket } from '#contracts/tickets';
import type { Transfer } from '#contracts/transfers';
import { Offers } from '../pages/transfers-page.tsx';
import { html, match } from '../testing/invitation-samples.tsx';
import { languages, type Language } from '../text/texts.ts';
import { GiveTicket } from './give-ticket.tsx';

const bothLanguages = Object.keys(languages) as Language[];
const seat = { seat_id: '0190a000-0000-7000-8000-0000000000a1', sector: 'Istok', row: '3', number: 12 };
const ticket: Ticket = {
  id: '0190a000-0000-7000-8000-0000000000c1',
  order_id: '0190a000-0000-7000-8000-0000000000c2',
  match_id: match.id,
  seat,
  holder_name: 'Ana Horvat',
  status: 'valid',
  code: 'TRB1.x.y',
};
const offer: Transfer = {
  id: '0190a000-0000-7000-8000-0000000000c3',
  role: 'receiver',
  ticket_id: ticket.id,
  match_id: match.id,
  seat,
  status: 'offered',
  holder_name: null,
  to_user_id: null,
  to_email: 'barbara@example.hr',
  new_ticket_id: null,
  created_at: '2030-05-01T18:00:00.000Z',
  expires_at: '2030-05-04T18:00:00.000Z',
  ended_at: null,
};
const profile = { email: 'barbara@example.hr', name: 'Barbara', locale: 'hr' as const };
const ignore = () => undefined;
const shownOffers = (offers: readonly Transfer[], language: Language = 'en', more = {}) =>
  html(<Offers offers={offers} matches={[match]} profile={{ ...profile, ...more }} onChange={ignore} />, language);

describe('a valid ticket', () => {
  const shown = (changes: Partial<typeof match> = {}, open?: Transfer) =>
    html(<GiveTicket ticket={ticket} match={{ ...match, ...changes }} offer={open} onChange={ignore} />);

  test('has the button that opens the form of an offer', () => {
    expect(shown()).toContain('data-testid="give-ticket"');
  });

  test('that is offered says to whom and until when, and has the button that withdraws the offer', () => {
    const offered = shown({}, { ...offer, role: 'giver' });
    expect(offered).toContain('Offered to barbara@example.hr');
    expect(offered).toContain('data-testid="withdraw-offer"');
    expect(offered).not.toContain('give-ticket');
  });

  test.each([
    ['after the kick-off', { kickoff_at: '2020-05-10T18:00:00.000Z' }, ''],
    ['of a cancelled match', { cancelled_at: '2020-05-10T18:00:00.000Z' }, ''],
    ['while transfers are locked', { transfers: 'locked' as const }, languages.en.transfers.locked],
  ])('%s cannot be offered', (_when, changes, text) => {
    expect(shown(changes)).not.toContain('give-ticket');
    expect(shown(changes)).toContain(text);
  });
});

describe.each(bothLanguages)('the page of offers in the language %s', (language) => {
  const { transfers } = languages[language];

  test('has a form with a labelled name for each open offer to the fan, and a button that declines it', () => {
    const shown = shownOffers([offer], language);
    const [, id] = /<input id="([^"]+)"/.exec(shown) ?? [];
    expect(shown).toContain(`<label for="${id}">${transfers.acceptName}`);
    expect(shown).toContain('value="Barbara"');
    expect([shown.includes('accept-offer'), shown.includes('decline-offer')]).toEqual([true, true]);
  });

  test.each(['accepted', 'declined', 'withdrawn', 'expired'] as const)('lists an offer that was %s without a form', (status) => {
    const shown = shownOffers([{ ...offer, status }], language);
    expect(shown).toContain(transfers.none);
    expect(shown).toContain(transfers.statuses[status]);
    expect(shown).not.toContain('accept-offer');
  });
});

test('the name that the giver suggests stands in the form; an offer that the fan has made has no form', () => {
  expect(shownOffers([{ ...offer, holder_name: 'Bara' }])).toContain('value="Bara"');
  expect(shownOffers([{ ...offer, role: 'giver' }])).not.toContain('accept-offer');
});

test('a fan whose account has no address is asked for it, because offers to an address belong to the account that has it', () => {
  expect(shownOffers([], 'en', { email: null })).toContain('data-testid="save-address"');
  expect(shownOffers([])).not.toContain('data-testid="save-address"');
});
