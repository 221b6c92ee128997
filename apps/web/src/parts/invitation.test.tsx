import type { Profile } from '#contracts/fans';
import { InvitationPage } from '../pages/invitation-page.tsx';
import { html, invitation } from '../testing/invitation-samples.tsx';
import { type Language, languages } from '../text/texts.ts';
import { InvitationFacts } from './invitation-facts.tsx';
import { InvitationStage } from './invitation-stage.tsx';
import type { InvitationState } from './invitation-state.ts';

const token = `inv_${'a'.repeat(43)}`;
const known: Profile = { name: 'Ana Horvat', email: 'ana@example.com', locale: 'hr' };
const unknown: Profile = { name: null, email: null, locale: 'hr' };
const bothLanguages = Object.keys(languages) as Language[];

function stage(state: InvitationState, profile: Profile | undefined = known, language: Language = 'en'): string {
  const shown = { ...invitation, opens_at: '2030-04-21T12:00:00Z' };
  return html(
    <InvitationStage token={token} invitation={shown} state={state} profile={profile} onRefused={() => undefined} />,
    language,
  );
}

test.each(bothLanguages)('in the language %s the facts name the places, the price and the deadline', (language) => {
  const shown = html(<InvitationFacts invitation={invitation} />, language);
  expect(shown.match(/data-testid="invitation-seat"/g)).toHaveLength(2);
  expect(shown).toContain('50');
  expect(shown).toContain('dateTime="2030-05-01T18:00:00.000Z"');
  expect(shown).not.toContain(languages[language].invitation.free);
});

test.each([
  ['en', 'free of charge'],
  ['hr', 'besplatno'],
] as const)('in the language %s places of 0 cents are %s', (language, text) => {
  expect(html(<InvitationFacts invitation={{ ...invitation, total_cents: 0 }} />, language)).toContain(text);
});

test.each<[InvitationState, string[]]>([
  ['open', ['data-testid="claim"']],
  ['taken', ['data-testid="claim"', 'accepted before']],
  ['early', ['from Sun 21 April']],
  ['mine', ['data-testid="invitation-checkout"', `href="/matches/${invitation.match.id}/checkout"`]],
  ['busy', [`href="/matches/${invitation.match.id}"`]],
  ['lost', ['Somebody else']],
  ['expired', ['time of this invitation is over', 'href="/"']],
  ['withdrawn', ['was withdrawn', 'href="/"']],
])('an invitation that is %s says what can be done', (state, texts) => {
  const shown = stage(state);
  for (const text of texts) expect(shown).toContain(text);
  expect(shown.includes('data-testid="claim"')).toBe(state === 'open' || state === 'taken');
});

test.each(['early', 'mine', 'busy', 'taken', 'lost', 'expired', 'withdrawn'] as const)(
  'in Croatian the state %s has a text of its own',
  (state) => {
    expect(stage(state, known, 'hr')).not.toBe(stage(state, known, 'en'));
  },
);

test('a fan without a name or an address enters them with the claim; a fan with both does not', () => {
  const fields = (profile: Profile) => stage('open', profile).match(/data-testid="account-\w+"/g);
  expect(fields(unknown)).toEqual(['data-testid="account-name"', 'data-testid="account-email"']);
  expect(fields({ ...known, email: null })).toHaveLength(2);
  expect(fields(known)).toBeNull();
});

test('somebody who is not signed in gets the sign-in, and no button that would be refused', () => {
  const shown = html(
    <InvitationStage token={token} invitation={invitation} state="open" profile={undefined} onRefused={() => undefined} />,
  );
  expect([shown.includes('type="password"'), shown.includes('data-testid="claim"')]).toEqual([true, false]);
});

test('the token is nowhere in what the page shows', () => {
  for (const state of ['open', 'taken', 'mine'] as const) expect(stage(state)).not.toContain(token);
});

test.each(bothLanguages)('in the language %s the page without a link says which link to open', (language) => {
  Object.defineProperty(globalThis, 'location', { value: { hash: '' }, configurable: true });
  const shown = html(<InvitationPage />, language);
  expect(shown).toContain('data-testid="invitation-wrong"');
  expect(shown).toContain(languages[language].invitation.wrong.title);
});
