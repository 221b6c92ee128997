import { unusedPageTexts } from './architecture/page-texts.ts';
import { productionSources } from './architecture/sources.ts';

// Not a literal in the import, because the web app is compiled with the types of a browser, and this test without them.
const fileOfTexts: string = '../apps/web/src/text/staff-language.ts';

test('the page shows each of its texts somewhere', async () => {
  const { staffLanguages } = (await import(fileOfTexts)) as { staffLanguages: Record<'hr' | 'en', object> };
  expect(unusedPageTexts(staffLanguages.en, productionSources())).toEqual([]);
});

const texts = { title: 'Matches', states: { open: 'Open', closed: 'Closed' }, seats: { free: 'Free', sold: () => 'Sold' } };

test.each([
  ['a text that is read by its name', '{texts.title}', ['states.open', 'states.closed', 'seats.free', 'seats.sold']],
  ['a text that is read by a computed name', 'texts.states[state]', ['title', 'seats.free', 'seats.sold']],
  [
    'a group under another name',
    'const seatTexts = texts.seats; seatTexts.sold()',
    ['title', 'states.open', 'states.closed', 'seats.free'],
  ],
  ['nothing', 'const title = others.title', ['title', 'states.open', 'states.closed', 'seats.free', 'seats.sold']],
])('a component that reads %s leaves the other texts unused', (_, text, unused) => {
  expect(unusedPageTexts(texts, [{ path: 'apps/web/src/parts/a.tsx', text }])).toEqual(unused);
});

test('a text that only the files with the texts name is unused', () => {
  expect(unusedPageTexts({ title: 'Matches' }, [{ path: 'apps/web/src/text/shop-texts.ts', text: 'texts.title' }])).toEqual([
    'title',
  ]);
});
