import { renderToStaticMarkup } from 'react-dom/server';
import { sectorListAnswer, type Sector } from '#contracts/sectors';
import { storage } from '../storage.ts';
import { installFakeStorage } from '../testing/browser-storage.ts';
import { LanguageProvider } from '../text/language.tsx';
import { languages, type Language } from '../text/texts.ts';
import { SectorList } from './sector-list.tsx';

const sector: Sector = {
  id: 'e1',
  name: 'East A',
  kind: 'seated',
  gate: 'E1',
  wheelchair: false,
  price_cents: 2500,
  currency: 'EUR',
  capacity: 100,
  available: 40,
};

/** For each field another value, which fans must be able to tell from the value above. `null`: fans need not see this field. */
const otherValues: { readonly [Field in keyof Sector]-?: Sector[Field] | null } = {
  id: null,
  name: 'East B',
  kind: 'standing',
  gate: 'E2',
  wheelchair: true,
  price_cents: 2600,
  currency: 'USD',
  capacity: 1000,
  available: 0,
};

/** What the list shows of a sector: its HTML without the data attributes, which only tests read. */
function shown(shownSector: Sector, language: Language): string {
  installFakeStorage();
  storage.local.write('tribina.language', language);
  const list = <SectorList sectors={[shownSector]} chosenId={undefined} onChoose={() => undefined} />;
  return renderToStaticMarkup(<LanguageProvider>{list}</LanguageProvider>).replaceAll(/ data-[\w-]+="[^"]*"/g, '');
}

const fields = Object.keys(sectorListAnswer.shape.items.element.shape) as (keyof Sector)[];

describe.each(Object.keys(languages) as Language[])('sector list in the language %s', (language) => {
  test.each(fields)('fans see the field %s of a sector, or it is named here as one that they need not see', (field) => {
    expect(Object.keys(otherValues)).toContain(field);
    const isHidden = otherValues[field] === null;
    const changed = { ...sector, [field]: isHidden ? 'another' : otherValues[field] };
    expect(shown(changed, language) === shown(sector, language)).toBe(isHidden);
  });
});

test.each<[Language, string]>([
  ['hr', 'Mjesta za osobe u kolicima'],
  ['en', 'Wheelchair places'],
])('in the language %s a sector for people in wheelchairs says "%s", and another sector does not', (language, label) => {
  expect(shown({ ...sector, wheelchair: true }, language)).toContain(label);
  expect(shown(sector, language)).not.toContain(label);
});
