import { lines, type MailBlock, type WrittenMail } from './mail-document.ts';
import { matchBlock, type MatchFacts } from './mail-match.ts';
import { momentText, say, seatText, type MailSeat } from './mail-words.ts';

/** Payload of the mail to a person to whom a fan offers a ticket. It has nothing that the fan has typed. */
export interface TransferOffer extends MatchFacts {
  readonly ticket: MailSeat;
  readonly expires_at: string;
}

/** Payload of the mail that tells the giver how the offer of a ticket has ended. */
export interface TransferAnswer extends MatchFacts {
  readonly ticket: MailSeat;
  readonly outcome: 'accepted' | 'declined' | 'expired';
}

export function transferOffer(offer: TransferOffer, { transfersUrl }: { readonly transfersUrl: string }): WrittenMail {
  const { locale, match_name } = offer;
  const hr = locale === 'hr';
  const until = momentText(offer.expires_at, locale);
  return [
    hr ? say`Nudi vam se ulaznica: ${match_name}` : say`You are offered a ticket: ${match_name}`,
    hr
      ? lines('Drugi navijač želi vam dati ovu ulaznicu.', 'Vaša postaje tek kad je prihvatite.')
      : lines('Another fan wants to give you this ticket.', 'It becomes yours only when you accept it.'),
    matchBlock(offer),
    ticketBlock(offer),
    {
      kind: 'link',
      before: hr ? 'Prihvatite je ili odbijte ovdje' : 'Accept or decline it here',
      label: hr ? 'Prihvati ili odbij' : 'Accept or decline',
      url: say`${transfersUrl}`,
      after: hr
        ? [
            say`Ponuda vrijedi do: ${until}.`,
            'Prijavite se svojim računom. Ako ga nemate, napravite ga s ovom e-adresom.',
            'Ako ovo niste očekivali, ne morate učiniti ništa.',
          ]
        : [
            say`The offer ends: ${until}.`,
            'Sign in with your account. If you have none, make one with this e-mail address.',
            'If you did not expect this, you need not do anything.',
          ],
    },
  ];
}

/** The words for each outcome in Croatian and in English: the subject, and what it means for the ticket. */
const outcomes = {
  accepted: {
    hr: ['Ulaznica je prihvaćena', 'Osoba kojoj ste ponudili ulaznicu prihvatila ju je. Vaš kod više ne otvara ulaz.'],
    en: [
      'Your ticket was accepted',
      'The person to whom you offered this ticket has accepted it. Your code no longer opens a gate.',
    ],
  },
  declined: {
    hr: ['Ulaznica nije prihvaćena', 'Vaša ponuda je odbijena. Ulaznica je i dalje vaša, a kod vrijedi.'],
    en: ['Your ticket was declined', 'Your offer was declined. The ticket is still yours, and its code is valid.'],
  },
  expired: {
    hr: ['Ponuda ulaznice je istekla', 'Nitko nije prihvatio vašu ponudu. Ulaznica je i dalje vaša, a kod vrijedi.'],
    en: ['Your offer of a ticket has ended', 'Nobody accepted your offer. The ticket is still yours, and its code is valid.'],
  },
} as const;

export function transferAnswer(answer: TransferAnswer, { ticketsUrl }: { readonly ticketsUrl: string }): WrittenMail {
  const { locale, match_name, outcome } = answer;
  const hr = locale === 'hr';
  if (!(outcome in outcomes)) throw new Error('A variable is missing: how the offer ended');
  const [title, meaning] = outcomes[outcome][hr ? 'hr' : 'en'];
  return [
    say`${title}: ${match_name}`,
    lines(meaning),
    matchBlock(answer),
    ticketBlock(answer),
    {
      kind: 'link',
      before: hr ? 'Vaše ulaznice' : 'Your tickets',
      label: hr ? 'Moje ulaznice' : 'My tickets',
      url: say`${ticketsUrl}`,
    },
  ];
}

const ticketBlock = ({ ticket, locale }: TransferOffer | TransferAnswer): MailBlock => ({
  kind: 'list',
  items: [seatText(ticket, locale)],
});
