import type { Translate } from './texts.ts';

/** The texts of the fan's own page. */
export function accountTexts(t: Translate) {
  return {
    title: t('My account', 'Moj račun'),
    profile: t('Profile', 'Profil'),
    profileText: t(
      'Mails and pushes come in this language. Name and address are proposed at checkout.',
      'Poruke stižu na ovom jeziku. Ime i adresu nudimo pri kupnji.',
    ),
    name: t('Name', 'Ime i prezime'),
    language: t('Language of messages', 'Jezik poruka'),
    save: t('Save', 'Spremi'),
    saved: t('Saved.', 'Spremljeno.'),
    exportTitle: t('What we keep about you', 'Što čuvamo o vama'),
    exportText: t(
      'A file with your profile, orders, tickets, offers and turns. Programs can read it (JSON).',
      'Datoteka s vašim profilom, narudžbama, ulaznicama, ponudama i redovima. Čitljiva je programima (JSON).',
    ),
    exportButton: t('Save the file', 'Spremi datoteku'),
    erase: {
      title: t('Erase my account', 'Izbriši moj račun'),
      text: t(
        'Your holds are released, you leave all lines, and your profile, devices, and the names and addresses in your orders and tickets are erased. This cannot be undone.',
        'Vaše rezervacije se otpuštaju, izlazite iz svih redova, a profil, uređaji te imena i adrese u narudžbama i ulaznicama se brišu. To se ne može poništiti.',
      ),
      stays: t(
        'Orders stay for accounting, without your name and address.',
        'Narudžbe ostaju zbog računovodstva, bez vašeg imena i adrese.',
      ),
      notYet: t(
        'Not yet: you have a valid ticket for a match to come, or an order awaits payment.',
        'Još nije moguće: imate važeću ulaznicu za utakmicu koja dolazi ili narudžba čeka plaćanje.',
      ),
      word: t('erase', 'izbriši'),
      typeWord: (word: string) => t(`Type “${word}” to confirm`, `Za potvrdu upišite „${word}”`),
      wordNeeded: (word: string) => t(`Type the word “${word}”.`, `Upišite riječ „${word}”.`),
      button: t('Erase everything', 'Izbriši sve'),
      done: t(
        'Everything was erased. Copies in messages follow within a minute.',
        'Sve je izbrisano. Kopije u porukama nestaju za minutu.',
      ),
    },
  };
}
