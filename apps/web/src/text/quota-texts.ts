import type { Invitation } from '#contracts/invitations';
import { plural } from './plural.ts';
import type { Translate } from './texts.ts';

const placesEn = (count: number) => plural('en', count, { one: '1 place', other: `${count} places` });
const placesHr = (count: number) => plural('hr', count, { one: `${count} mjesto`, other: `${count} mjesta` });
const peopleEn = (count: number) => plural('en', count, { one: '1 person', other: `${count} people` });
const peopleHr = (count: number) =>
  plural('hr', count, { one: `${count} osoba`, few: `${count} osobe`, other: `${count} osoba` });
const peopleHrAccusative = (count: number) =>
  plural('hr', count, { one: `${count} osobu`, few: `${count} osobe`, other: `${count} osoba` });
const rowsEn = (count: number) => plural('en', count, { one: '1 row', other: `${count} rows` });
const rowsHr = (count: number) => plural('hr', count, { one: `${count} redak`, few: `${count} retka`, other: `${count} redaka` });

/** The texts of the pages of partners. */
export function quotaTexts(t: Translate) {
  const cancel = t('Cancel', 'Odustani');
  return {
    title: t('Your quotas', 'Vaše kvote'),
    intro: t(
      'Places that are set aside for you. Invite people to them before they go back.',
      'Mjesta koja su izdvojena za vas. Pozovite ljude na njih prije nego što se vrate.',
    ),
    none: t(
      'You act for no quota. Give the organiser your user id:',
      'Ne zastupate nijednu kvotu. Organizatoru dajte svoju oznaku:',
    ),
    signIn: t('Sign in as a partner to see your quotas.', 'Prijavite se kao partner da biste vidjeli svoje kvote.'),
    back: t('All your quotas', 'Sve vaše kvote'),
    open: (name: string) => t(`Open ${name}`, `Otvori: ${name}`),
    more: t('Not all quotas are shown.', 'Nisu prikazane sve kvote.'),
    partOf: (name: string) => t(`Part of ${name}`, `Dio kvote ${name}`),
    withParts: (total: string, sold: string) =>
      t(`With its parts: ${total} places, ${sold} sold`, `S dijelovima: mjesta ${total}, prodano ${sold}`),
    numbers: {
      label: t('Places by state', 'Mjesta po stanju'),
      total: t('Places', 'Mjesta'),
    },
    deadlines: {
      opens: t('Invitations can be accepted from', 'Pozivnice se mogu prihvatiti od'),
      atOnce: t('at once', 'odmah'),
      until: t('Accepted until', 'Prihvaćanje do'),
      noEnd: t('kick-off', 'početka utakmice'),
      returns: t('Unused places go back', 'Neiskorištena mjesta vraćaju se'),
      never: t('never', 'nikad'),
      returned: t('Went back', 'Vraćeno'),
      kickoff: t('Kick-off', 'Početak'),
    },
    closed: t('This quota was returned: nobody can be invited any more.', 'Kvota je vraćena: više se nikoga ne može pozvati.'),
    person: {
      title: t('Invite a person', 'Pozovite osobu'),
      text: t(
        'The person gets a mail with a link. Places side by side are kept until the invitation ends.',
        'Osoba dobiva poruku s poveznicom. Mjesta jedno do drugoga čuvaju se dok pozivnica vrijedi.',
      ),
      email: t('E-mail', 'E-pošta'),
      name: t('Name (optional)', 'Ime (nije obvezno)'),
      quantity: t('Places', 'Broj mjesta'),
      quantityHint: (max: number) => t(`At most ${max}`, `Najviše ${max}`),
      quantityFault: (max: number) => t(`Enter a number from 1 to ${max}.`, `Upišite broj od 1 do ${max}.`),
      sector: t('Sector', 'Sektor'),
      anySector: t('Any sector', 'Bilo koji sektor'),
      language: t('Language of the mail', 'Jezik poruke'),
      languages: { hr: t('Croatian', 'hrvatski'), en: t('English', 'engleski') },
      note: t('Note for yourself (optional)', 'Bilješka za vas (nije obvezna)'),
      end: t('Ends (optional)', 'Vrijedi do (nije obvezno)'),
      endHint: t(
        'Without it the invitation ends with the deadline of the quota, and it never ends later.',
        'Bez toga pozivnica vrijedi do roka kvote, a dulje nikad ne vrijedi.',
      ),
      endFault: t('Choose a time in the future.', 'Odaberite vrijeme u budućnosti.'),
      submit: t('Send the invitation', 'Pošalji pozivnicu'),
      done: (email: string) => t(`Invited: ${email}.`, `Pozvano: ${email}.`),
      fault: t('Something is not right here. Check what you entered.', 'Nešto nije u redu. Provjerite što ste upisali.'),
    },
    list: {
      title: t('Invite a list', 'Pozovite po popisu'),
      file: t('CSV file', 'Datoteka CSV'),
      fileHint: t('At most 500 rows and 2 MB, saved as CSV UTF-8', 'Najviše 500 redaka i 2 MB, spremljeno kao CSV UTF-8'),
      format: t('What the file contains', 'Što datoteka sadržava'),
      formatText: t(
        'The first line names the columns, in any order, with commas or semicolons between them. Needed: email, quantity. Optional: name, locale (hr or en), sector_id, note, user_id (only this account can accept).',
        'Prvi redak imenuje stupce, bilo kojim redom, odvojene zarezom ili točkom sa zarezom. Obvezno: email, quantity. Po želji: name, locale (hr ili en), sector_id, note, user_id (prihvatiti može samo taj račun).',
      ),
      sectorIds: t('Sectors of this quota (sector_id)', 'Sektori ove kvote (sector_id)'),
      key: t('Name of the list', 'Naziv popisa'),
      keyHint: t(
        'An address is invited once under this name, however often you send the list.',
        'Ista se adresa pod ovim nazivom poziva jednom, koliko god puta poslali popis.',
      ),
      keyNeeded: t('Enter a name for the list.', 'Upišite naziv popisa.'),
      fileNeeded: t('Choose a file.', 'Odaberite datoteku.'),
      tooLarge: t('The file is larger than 2 MB.', 'Datoteka je veća od 2 MB.'),
      notUtf8: t(
        'The file is not UTF-8, so letters such as č or đ would be lost. In Excel choose “CSV UTF-8”.',
        'Datoteka nije UTF-8 pa bi se izgubila slova poput č ili đ. U Excelu odaberite „CSV UTF-8”.',
      ),
      unreadable: t('The file cannot be read. Nobody was invited.', 'Datoteka se ne može pročitati. Nitko nije pozvan.'),
      check: t('Check the list', 'Provjeri popis'),
      checking: t('Checking…', 'Provjera…'),
      preview: t('Preview: nothing was sent yet', 'Pregled: još ništa nije poslano'),
      sent: t('Sent', 'Poslano'),
      row: t('Row', 'Redak'),
      content: t('Content', 'Sadržaj'),
      verdict: t('Verdict', 'Ishod'),
      verdicts: {
        planned: t('Will be invited', 'Bit će pozvano'),
        created: t('Invited', 'Pozvano'),
        duplicate: t('Invited before', 'Već pozvano'),
        refused: t('Not invited', 'Nije pozvano'),
      },
      tooFew: t('Too few places are free', 'Premalo slobodnih mjesta'),
      summary: (isPreview: boolean, counts: { created: number; duplicate: number; refused: number }) =>
        t(
          `${peopleEn(counts.created)} ${isPreview ? 'will be invited' : 'invited'}, ${counts.duplicate} invited before, ${rowsEn(counts.refused)} refused.`,
          `${isPreview ? 'Bit će pozvano' : 'Pozvano'}: ${peopleHr(counts.created)}, već pozvano: ${counts.duplicate}, odbijeno: ${rowsHr(counts.refused)}.`,
        ),
      confirm: (count: number) => t(`Invite ${peopleEn(count)}`, `Pozovi ${peopleHrAccusative(count)}`),
      nothing: t('Nobody on this list can be invited now.', 'S ovog popisa sada se nikoga ne može pozvati.'),
      repair: t(
        'Correct the refused rows and choose the file again: those who are invited stay as they are.',
        'Ispravite odbijene retke i ponovno odaberite datoteku: već pozvani ostaju kako jesu.',
      ),
    },
    invitations: {
      title: t('Invitations', 'Pozivnice'),
      refreshed: t('refreshed every 10 seconds', 'osvježava se svakih 10 sekundi'),
      none: t('Nobody is invited yet.', 'Još nitko nije pozvan.'),
      shown: (count: number, isMore: boolean) =>
        isMore
          ? t(`${count} shown, there are more.`, `Prikazano: ${count}, ima ih još.`)
          : t(`${count} shown.`, `Prikazano: ${count}.`),
      more: t('Show more', 'Prikaži još'),
      statuses: {
        open: t('Not accepted yet', 'Još nije prihvaćena'),
        held: t('Accepted, not paid', 'Prihvaćena, nije plaćena'),
        claimed: t('Has the tickets', 'Ima ulaznice'),
        expired: t('Ended', 'Istekla'),
        withdrawn: t('Withdrawn', 'Povučena'),
      } satisfies Record<Invitation['status'], string>,
      places: (count: number) => t(placesEn(count), placesHr(count)),
      ends: (when: string) => t(`until ${when}`, `do: ${when}`),
      claimed: (when: string) => t(`accepted on ${when}`, `prihvaćena: ${when}`),
      list: (key: string) => t(`list ${key}`, `popis ${key}`),
      actions: (who: string) => t(`Invitation of ${who}`, `Pozivnica za ${who}`),
      resend: t(
        {
          label: 'Send again',
          question: 'Send a new link? The link in the earlier mail stops working.',
          yes: 'Yes, send',
          no: cancel,
        },
        {
          label: 'Pošalji ponovno',
          question: 'Poslati novu poveznicu? Ona iz prijašnje poruke prestat će raditi.',
          yes: 'Da, pošalji',
          no: cancel,
        },
      ),
      resent: (who: string) => t(`Sent again: ${who}.`, `Ponovno poslano: ${who}.`),
      withdraw: t(
        {
          label: 'Withdraw',
          question: 'Withdraw this invitation? The link stops working and the places are free again.',
          yes: 'Yes, withdraw',
          no: cancel,
        },
        {
          label: 'Povuci',
          question: 'Povući pozivnicu? Poveznica prestaje raditi, a mjesta su opet slobodna.',
          yes: 'Da, povuci',
          no: cancel,
        },
      ),
      withdrawn: (who: string) => t(`Withdrawn: ${who}.`, `Povučeno: ${who}.`),
    },
  };
}
