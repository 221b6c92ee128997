import { plural } from './plural.ts';
import type { Translate } from './texts.ts';

const placesEn = (count: number) => plural('en', count, { one: '1 place', other: `${count} places` });
const placesHr = (count: number) => plural('hr', count, { one: `${count} mjesto`, other: `${count} mjesta` });

/** The texts of the page that the link of an invitation opens. */
export const invitationTexts = (t: Translate) => ({
  title: t('Your invitation', 'Vaša pozivnica'),
  from: (name: string) => t(`${name} invites you`, `Poziva vas ${name}`),
  places: (count: number) => t(placesEn(count), placesHr(count)),
  price: t('Price of all places', 'Cijena svih mjesta'),
  free: t('free of charge', 'besplatno'),
  seats: t('Your places', 'Vaša mjesta'),
  until: t('Accept by', 'Prihvatite do'),
  account: {
    title: t('Your account', 'Vaš račun'),
    text: t(
      'The tickets belong to an account. Enter a name and an e-mail address, and yours is made.',
      'Ulaznice pripadaju računu. Upišite ime i adresu e-pošte i vaš će račun biti otvoren.',
    ),
    signIn: t(
      'Sign in to accept the invitation. This page is kept open in this tab.',
      'Prijavite se da biste prihvatili pozivnicu. Ova stranica ostaje otvorena u ovoj kartici.',
    ),
    emailHint: t('We write there when something changes.', 'Javljamo vam se ondje ako se nešto promijeni.'),
  },
  claim: t('Accept the invitation', 'Prihvati pozivnicu'),
  claiming: t('One moment…', 'Trenutak…'),
  goOn: t('Continue', 'Nastavi'),
  toMatch: t('To these seats', 'Na ta mjesta'),
  allMatches: t('All matches', 'Sve utakmice'),
  states: {
    open: undefined,
    early: (when: string) => t(`You can accept this invitation from ${when}.`, `Ovu pozivnicu možete prihvatiti od: ${when}.`),
    mine: t(
      'The places are held for you. Continue with the names of those who come.',
      'Mjesta su rezervirana za vas. Nastavite s imenima onih koji dolaze.',
    ),
    busy: t(
      'You hold other seats of this match. Finish or release them first, then come back to this page.',
      'Već držite druga mjesta za ovu utakmicu. Najprije dovršite ili otpustite njih pa se vratite na ovu stranicu.',
    ),
    taken: t(
      'This invitation was accepted before. If it was you, continue. If not, somebody else has used the link.',
      'Ova je pozivnica već prihvaćena. Ako ste je prihvatili vi, nastavite. Ako niste, netko se drugi poslužio poveznicom.',
    ),
    lost: t(
      'Somebody else has accepted this invitation. If they do not finish, it opens again, and this page says so.',
      'Ovu je pozivnicu prihvatio netko drugi. Ako ne dovrši, ponovno će biti dostupna i ova će stranica to pokazati.',
    ),
    expired: t(
      'The time of this invitation is over, so its places are given to others. Write to those who invited you.',
      'Vrijeme ove pozivnice je isteklo pa će mjesta dobiti drugi. Obratite se onima koji su vas pozvali.',
    ),
    withdrawn: t(
      'This invitation was withdrawn. Write to those who invited you.',
      'Ova je pozivnica povučena. Obratite se onima koji su vas pozvali.',
    ),
  },
  notYours: t(
    'This invitation is for another account. Sign in with the account that was invited.',
    'Ova je pozivnica za drugi račun. Prijavite se računom koji je pozvan.',
  ),
  wrong: {
    title: t('This link does not work', 'Poveznica ne radi'),
    text: t(
      'Open the link in your mail again. If you have several mails, use the newest: an invitation that is sent again gets a new link.',
      'Ponovno otvorite poveznicu iz poruke. Ako ih imate više, upotrijebite najnoviju: ponovno poslana pozivnica ima novu poveznicu.',
    ),
  },
  back: t('Back to the invitation', 'Natrag na pozivnicu'),
  step: t('Invitation', 'Pozivnica'),
});
