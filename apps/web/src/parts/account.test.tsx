import { AccountSections } from '../pages/account-page.tsx';
import { html } from '../testing/invitation-samples.tsx';
import { languages, type Language } from '../text/texts.ts';

const bothLanguages = Object.keys(languages) as Language[];
const profile = { email: 'ana@example.hr', name: 'Ana Horvat', locale: 'hr' as const };

test.each(bothLanguages)('the account page has the profile, the file and the erasing, in %s', (language) => {
  const page = html(<AccountSections profile={profile} />, language);
  const { account } = languages[language];
  for (const text of [account.profile, account.exportButton, account.erase.text, account.erase.typeWord(account.erase.word)])
    expect(page).toContain(text);
  expect(page).toContain('value="ana@example.hr"');
});

test('the erasing looks different from the other forms', () => {
  const page = html(<AccountSections profile={profile} />, 'en');
  expect(page.match(/final-act/g)).toHaveLength(1);
  expect(page).toContain('button-danger');
});
