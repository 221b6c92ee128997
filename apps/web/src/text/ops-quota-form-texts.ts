import { plural } from './plural.ts';
import type { Translate } from './texts.ts';

/** The texts of the forms for quotas: a new one, its settings, and moves of its places. */
export function opsQuotaFormTexts(t: Translate) {
  const cancel = t('Cancel', 'Odustani');
  return {
    cancel,
    fields: {
      name: t('Name', 'Naziv'),
      kind: t('Kind (it never changes)', 'Vrsta (ne može se promijeniti)'),
      chooseKind: t('Choose', 'Odaberite'),
      parent: t('Places come from', 'Mjesta dolaze od'),
      contact: t('E-mail of the contact', 'E-pošta kontakta'),
      contactHint: t('Is told about the return. May be empty.', 'Dobiva obavijest o povratu. Može biti prazno.'),
      opensAt: t('Invitations open', 'Pozivi vrijede od'),
      opensAtHint: t('Empty: at once', 'Prazno: odmah'),
      claimUntil: t('Invitations end', 'Pozivi vrijede do'),
      claimUntilHint: t('Empty: with the return', 'Prazno: do povrata'),
      returnAt: t('Free places go back', 'Povrat slobodnih mjesta'),
      returnAtHint: t('Empty: never', 'Prazno: nikad'),
      onReturn: t('Then they go to', 'Tada mjesta dobiva'),
      onReturnHint: t('Only free places go back', 'Vraćaju se samo slobodna'),
      neverTo: t('Its places must never move to', 'Mjesta se nikad ne smiju premjestiti za'),
      maxPerInvitation: t('Places per invitation, at most', 'Najviše mjesta po pozivu'),
      maxPerInvitationHint: t('1 to 20', '1 do 20'),
      members: t('Members: accounts of the partners', 'Članovi: računi partnera'),
      membersHint: t('One UUID a line. May be empty.', 'Jedan UUID u retku. Može biti prazno.'),
    },
    onReturn: {
      public: t('the public', 'javnost'),
      parent: t('the parent quota', 'nadređena kvota'),
      keep: t('nobody: they stay', 'nitko: ostaju'),
    },
    placesOf: {
      title: t('Places', 'Mjesta'),
      row: (row: number) => t(`Places, line ${row}`, `Mjesta, redak ${row}`),
      sector: t('Sector', 'Sektor'),
      any: (free: string) => t(`any sectors (${free} free)`, `bilo koji sektori (slobodno ${free})`),
      ofSector: (sector: string, free: string) => t(`${sector} (${free} free)`, `${sector} (slobodno ${free})`),
      quantity: t('How many', 'Koliko'),
      price: (currency: string) => t(`Price, ${currency}`, `Cijena, ${currency}`),
      priceHint: t(
        'An empty price is that of the public sale; 0 is free of charge.',
        'Prazna cijena jednaka je onoj u javnoj prodaji; 0 znači besplatno.',
      ),
      add: t('Add a line', 'Dodaj redak'),
      remove: (row: number) => t(`Remove line ${row}`, `Ukloni redak ${row}`),
    },
    faults: {
      nameNeeded: t('Enter a name.', 'Upišite naziv.'),
      kindNeeded: t('Choose a kind.', 'Odaberite vrstu.'),
      email: t('This is not an e-mail address.', 'Ovo nije adresa e-pošte.'),
      past: t('This time has passed.', 'To je vrijeme prošlo.'),
      late: t('This is after kick-off.', 'To je nakon početka utakmice.'),
      order: t('This is not after the deadline before it.', 'To nije nakon prethodnog roka.'),
      members: t('Only UUIDs, each once.', 'Samo UUID-ovi, svaki jednom.'),
      quantity: t('Enter a whole number from 1.', 'Upišite cijeli broj od 1.'),
      maximum: t('Enter a number from 1 to 20.', 'Upišite broj od 1 do 20.'),
      price: t('Enter an amount such as 12.50.', 'Upišite iznos poput 12,50.'),
      twice: t('This sector is listed above.', 'Taj je sektor već naveden.'),
      reasonNeeded: t('Enter a reason.', 'Navedite razlog.'),
      onlyFree: (count: number, shown: string) =>
        t(
          plural('en', count, { one: `Only ${shown} place is free.`, other: `Only ${shown} places are free.` }),
          plural('hr', count, { one: `Slobodno je samo ${shown} mjesto.`, other: `Slobodno je samo ${shown} mjesta.` }),
        ),
      refused: t('The service refuses this value.', 'Servis ne prihvaća ovu vrijednost.'),
      check: t('Check the marked fields.', 'Provjerite označena polja.'),
    },
    create: {
      label: t('New quota', 'Nova kvota'),
      preview: t('Preview', 'Pregledaj'),
      title: (name: string) => t(`Preview of ${name}`, `Pregled kvote ${name}`),
      confirm: t('Create the quota', 'Stvori kvotu'),
      change: t('Change', 'Promijeni'),
      created: (name: string) => t(`${name} was created.`, `${name}: kvota je stvorena.`),
      meanwhile: t(
        'If somebody buys one of these places in the meantime, others near by are taken.',
        'Ako netko u međuvremenu kupi neko od ovih mjesta, uzimaju se druga u blizini.',
      ),
      taken: (places: string) => t(`${places} will be taken:`, `Uzima se: ${places}:`),
      stranded: (count: number, shown: string) =>
        t(
          plural('en', count, {
            one: `${shown} single seat would be left without a free neighbour.`,
            other: `${shown} single seats would be left without a free neighbour.`,
          }),
          plural('hr', count, {
            one: `Ostalo bi ${shown} usamljeno sjedalo bez slobodnog susjeda.`,
            few: `Ostala bi ${shown} usamljena sjedala bez slobodnog susjeda.`,
            other: `Ostalo bi ${shown} usamljenih sjedala bez slobodnog susjeda.`,
          }),
        ),
      noneStranded: t('No single seat is left without a free neighbour.', 'Nijedno sjedalo ne ostaje bez slobodnog susjeda.'),
      row: (row: string) => t(`Row ${row}`, `Red ${row}`),
      rows: (first: string, last: string) => t(`Rows ${first}–${last}`, `Redovi ${first}–${last}`),
      seats: (ranges: string) => t(`seats ${ranges}`, `sjedala ${ranges}`),
      whole: t('nothing is left', 'ništa ne ostaje'),
      standing: t('standing places', 'stajaća mjesta'),
    },
    change: {
      label: t('Change', 'Promijeni'),
      save: t('Save', 'Spremi'),
      saved: (name: string) => t(`${name} was changed.`, `${name}: promjene su spremljene.`),
      nothing: t('Nothing has been changed.', 'Ništa nije promijenjeno.'),
    },
    move: {
      label: t('Move places', 'Premjesti mjesta'),
      to: t('To', 'Kamo'),
      reason: t('Reason (for the ledger)', 'Razlog (za knjigu premještaja)'),
      send: t('Move', 'Premjesti'),
      done: (places: string, to: string) => t(`${places} moved to ${to}.`, `Premješteno: ${places}, novi vlasnik: ${to}.`),
      ask: t('Ask a second operator', 'Zatraži drugog operatera'),
      asked: (places: string, to: string) =>
        t(
          `The move of ${places} to ${to} waits for a second operator.`,
          `Premještaj (${places}, novi vlasnik: ${to}) čeka drugog operatera.`,
        ),
      noFree: t('This quota has no free places.', 'Ova kvota nema slobodnih mjesta.'),
    },
  };
}
