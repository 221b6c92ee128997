import type { TransferStatus } from '#contracts/transfers';
import type { Translate } from './texts.ts';

/** The texts about tickets that fans give to each other. */
export function transferTexts(t: Translate) {
  const cancel = t('Cancel', 'Odustani');
  return {
    title: t('Offered tickets', 'Ponuđene ulaznice'),
    link: (count: number) =>
      count > 0
        ? t(`Tickets offered to you: ${count}`, `Nude vam ulaznice: ${count}`)
        : t('Offered tickets', 'Ponuđene ulaznice'),
    none: t('Nobody offers you a ticket now.', 'Trenutačno vam nitko ne nudi ulaznicu.'),
    toAddress: (email: string) => t(`Offers to ${email} appear here.`, `Ovdje su i ponude poslane na ${email}.`),
    addressTitle: t('Was a ticket offered to your e-mail address?', 'Je li ulaznica ponuđena na vašu e-adresu?'),
    addressText: t(
      'Your account has no address yet. Enter the one to which the offer was sent.',
      'Vaš račun još nema e-adresu. Upišite onu na koju je ponuda poslana.',
    ),
    saveAddress: t('Show its offers', 'Prikaži ponude'),
    give: t('Give this ticket to somebody', 'Daj ulaznicu drugome'),
    giveText: t(
      'The receiver has to accept it. Until then the ticket is yours and its code works.',
      'Primatelj je mora prihvatiti. Do tada je ulaznica vaša i kod vrijedi.',
    ),
    to: t('E-mail address or user id of the receiver', 'E-adresa ili korisnički ID primatelja'),
    toNeeded: t('Enter an e-mail address or a user id.', 'Upišite e-adresu ili korisnički ID.'),
    unknownFan: t('There is no fan with this user id.', 'Nema navijača s tim korisničkim ID-om.'),
    holder: t('Name of the new holder (optional)', 'Ime novog imatelja (neobavezno)'),
    offer: t('Offer the ticket', 'Ponudi ulaznicu'),
    offering: t('Offering…', 'Šaljemo ponudu…'),
    cancel,
    locked: t(
      'The organiser does not allow tickets of this match to be passed on now.',
      'Organizator sada ne dopušta prijenos ulaznica za ovu utakmicu.',
    ),
    offeredTo: (receiver: string) => t(`Offered to ${receiver}`, `Ponuđeno: ${receiver}`),
    until: (time: string) => t(`The offer ends on ${time}.`, `Ponuda vrijedi do ${time}.`),
    withdraw: {
      label: t('Withdraw the offer', 'Povuci ponudu'),
      question: t('Withdraw the offer? The ticket stays yours.', 'Povući ponudu? Ulaznica ostaje vaša.'),
      yes: t('Yes, withdraw', 'Da, povuci'),
      no: cancel,
    },
    acceptName: t('Name on the ticket', 'Ime na ulaznici'),
    accept: t('Accept the ticket', 'Prihvati ulaznicu'),
    accepting: t('Accepting…', 'Prihvaćamo…'),
    decline: {
      label: t('Decline', 'Odbij'),
      question: t('Decline this ticket?', 'Odbiti ovu ulaznicu?'),
      yes: t('Yes, decline', 'Da, odbij'),
      no: cancel,
    },
    earlier: t('All offers', 'Sve ponude'),
    given: t('Given by you', 'Vaša ponuda'),
    received: t('Offered to you', 'Ponuđeno vama'),
    statuses: {
      offered: t('Open', 'Otvorena'),
      accepted: t('Accepted', 'Prihvaćena'),
      declined: t('Declined', 'Odbijena'),
      withdrawn: t('Withdrawn', 'Povučena'),
      expired: t('Ended', 'Istekla'),
    } satisfies Record<TransferStatus, string>,
  };
}
