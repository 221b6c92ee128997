import { renderToStaticMarkup } from 'react-dom/server';
import { storage } from '../storage.ts';
import { installFakeStorage } from '../testing/browser-storage.ts';
import { LanguageProvider } from '../text/language.tsx';
import type { Language } from '../text/texts.ts';
import { MatchSearchField } from './match-search-field.tsx';
import { isSearchOffered } from './use-match-search.ts';

test.each([
  [0, '', false],
  [10, '', false],
  [11, '', true],
  [0, 'hajduk', true],
])('with %d matches and %p in the field, the search is offered: %p', (matches, input, expected) => {
  expect(isSearchOffered(matches, input)).toBe(expected);
});

function shown(language: Language, facts: { items: number; text: string; isOffered?: boolean }): string {
  installFakeStorage();
  storage.local.write('tribina.language', language);
  const search = {
    value: { items: Array.from({ length: facts.items }, () => ({})) },
    input: facts.text,
    text: facts.text,
    isOffered: facts.isOffered ?? true,
    change: () => undefined,
    submit: () => undefined,
  };
  return renderToStaticMarkup(
    <LanguageProvider>
      <MatchSearchField search={search} />
    </LanguageProvider>,
  );
}

describe.each<[Language, string, string]>([
  ['hr', 'Traži po klubu ili stadionu', 'Nijedna utakmica ne odgovara upitu „hajduk”.'],
  ['en', 'Search by team or venue', 'No match was found for “hajduk”.'],
])('in the language %s the search of matches', (language, label, nothingFound) => {
  test('has a label for its input', () => {
    const html = shown(language, { items: 11, text: '' });
    const id = /<label for="([^"]+)">([^<]+)</.exec(html);
    expect(id?.[2]).toBe(label);
    expect(html).toContain(`<input id="${id?.[1]}" type="search"`);
    expect(html).toContain('role="search"');
  });

  test('says so if nothing was found, in a status that screen readers announce, and otherwise nothing', () => {
    expect(shown(language, { items: 0, text: 'hajduk' })).toMatch(new RegExp(`role="status"[^>]*>${nothingFound}<`));
    expect(shown(language, { items: 1, text: 'hajduk' })).not.toContain(nothingFound);
  });

  test('is not there for a short list', () => {
    expect(shown(language, { items: 3, text: '', isOffered: false })).toBe('');
  });
});
