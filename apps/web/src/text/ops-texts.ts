import type { SaleAction } from '#contracts/matches';
import type { Translate } from './texts.ts';

/** The texts of the page for operators. */
export function opsTexts(t: Translate) {
  const cancel = t('Cancel', 'Odustani');
  return {
    title: t('Control room', 'Upravljanje prodajom'),
    intro: t('Changes take effect within a second.', 'Promjene vrijede u roku od sekunde.'),
    empty: t('No matches yet.', 'Još nema utakmica.'),
    sale: t('Sale', 'Prodaja'),
    actions: {
      open: t('Open sale', 'Otvori prodaju'),
      pause: t('Pause', 'Pauziraj'),
      resume: t('Resume', 'Nastavi'),
    } satisfies Record<Exclude<SaleAction, 'close'>, string>,
    reason: t('Reason for the pause (fans see it)', 'Razlog pauze (vide ga navijači)'),
    close: {
      label: t('Close sale', 'Zatvori prodaju'),
      question: t('Close the sale? Everybody in line has to leave.', 'Zatvoriti prodaju? Svi u redu bit će otpušteni.'),
      yes: t('Yes, close', 'Da, zatvori'),
      no: cancel,
    },
    transfers: {
      title: t('Passing on tickets', 'Prijenos ulaznica'),
      allowed: t(
        'Fans may offer and accept tickets of this match.',
        'Navijači smiju nuditi i prihvaćati ulaznice za ovu utakmicu.',
      ),
      locked: t(
        'Locked: no ticket can be offered or accepted. Open offers wait until their time is over.',
        'Zaključano: ulaznice se ne mogu nuditi ni prihvaćati. Otvorene ponude čekaju do isteka.',
      ),
      lock: t('Lock transfers', 'Zaključaj prijenos'),
      allow: t('Allow transfers', 'Dopusti prijenos'),
    },
    line: t('Line', 'Red'),
    rate: t('Admissions per minute', 'Propuštenih u minuti'),
    windows: t('Maximum open windows', 'Najviše istodobnih kupnji'),
    unchanged: t('unchanged', 'bez promjene'),
    save: t('Save', 'Spremi'),
    saved: t('Saved.', 'Spremljeno.'),
    saving: t('Saving…', 'Spremanje…'),
    numberNeeded: t('Enter a whole number.', 'Upišite cijeli broj.'),
    noQueue: t('This match is sold without a waiting room.', 'Ova se utakmica prodaje bez čekaonice.'),
    report: {
      title: t('Now', 'Sada'),
      refreshed: t('refreshed every 2 seconds', 'osvježava se svake 2 sekunde'),
      queueUnknown: t('The waiting room does not answer.', 'Čekaonica ne odgovara.'),
    },
    numbers: {
      capacity: t('Places', 'Mjesta'),
      available: t('Free', 'Slobodno'),
      held: t('On hold', 'Rezervirano'),
      sold: t('Sold', 'Prodano'),
      blocked: t('Not for sale', 'Nije u prodaji'),
      refunded: t('Refunded', 'Vraćeno'),
      revenue: t('Revenue', 'Prihod'),
      waiting: t('In line', 'U redu'),
      open_windows: t('Buying now', 'Kupuju sada'),
      granted: t('Turns given', 'Došli na red'),
      completed: t('Turns used', 'Kupili'),
      expired: t('Turns expired', 'Isteklo im vrijeme'),
      orders: t('Orders', 'Narudžbe'),
    },
    calledOff: {
      reason: t('Why it is not played (fans read it)', 'Zašto se ne igra (čitaju navijači)'),
      reasonNeeded: t('Enter a reason.', 'Navedite razlog.'),
      title: t('Cancel the match', 'Otkazivanje utakmice'),
      warning: t(
        'This cannot be undone. The sale is closed for ever, everybody is told, and every order is refunded.',
        'Ovo se ne može poništiti. Prodaja se trajno zatvara, svi će biti obaviješteni, a novac vraćen za sve narudžbe.',
      ),
      name: t('Type the name of the match:', 'Upišite naziv utakmice:'),
      nameNeeded: t('This is not the name of the match.', 'To nije naziv utakmice.'),
      yes: t('Cancel this match for ever', 'Trajno otkaži ovu utakmicu'),
      done: (at: string, reason: string) => t(`Cancelled on ${at}: ${reason}`, `Otkazano ${at}: ${reason}`),
      refunding: t(
        'Ticket holders are told by mail, then every order is refunded in the background.',
        'Vlasnici ulaznica obavještavaju se e-poštom, a zatim se u pozadini vraća novac za svaku narudžbu.',
      ),
    },
    refund: {
      title: t('Orders and refunds', 'Narudžbe i povrat novca'),
      find: t(
        'Part of an order number, e-mail address, name or ticket id',
        'Dio broja narudžbe, e-pošte, imena ili oznake ulaznice',
      ),
      search: t('Find', 'Traži'),
      nothing: t('Nothing found.', 'Ništa nije pronađeno.'),
      ticket: (shortId: string) => t(`Ticket ${shortId}`, `Ulaznica ${shortId}`),
      chosen: (places: string, sum: string) => ({
        label: t(`Refund the chosen tickets: ${sum}`, `Vrati novac za odabrane ulaznice: ${sum}`),
        question: t(
          `Refund ${sum} for ${places}? These tickets will not open a gate any more.`,
          `Vratiti ${sum} za ${places}? Te ulaznice više neće otvarati ulaz.`,
        ),
        yes: t(`Yes, refund ${sum}`, `Da, vrati ${sum}`),
        no: cancel,
      }),
      all: (number: string, sum: string) => ({
        label: t(`Refund the order: ${sum}`, `Vrati novac za narudžbu: ${sum}`),
        question: t(
          `Refund ${sum} for all remaining tickets of ${number}? They will not open a gate any more.`,
          `Vratiti ${sum} za sve preostalo iz ${number}? Ulaznice više neće otvarati ulaz.`,
        ),
        yes: t(`Yes, refund ${sum}`, `Da, vrati ${sum}`),
        no: cancel,
      }),
      done: (amount: string) =>
        t(`${amount} will be paid back. The seats are for sale again.`, `Vraća se ${amount}. Mjesta su ponovno u prodaji.`),
    },
    recorded: (action: string) => t(`Recorded in the audit log as “${action}”.`, `Zapisano u dnevniku radnji kao „${action}”.`),
    blacklist: {
      fromOrder: {
        label: t('Put the buyer on the blacklist', 'Stavi kupca na crnu listu'),
        question: (email: string) =>
          t(
            `Put the account of ${email} on the blacklist for good? Its tickets stay valid.`,
            `Trajno staviti račun ${email} na crnu listu? Njegove ulaznice ostaju važeće.`,
          ),
        yes: t('Yes, put on the list', 'Da, stavi na listu'),
        no: cancel,
        done: (email: string) => t(`The account of ${email} is on the blacklist.`, `Račun ${email} je na crnoj listi.`),
      },
      title: t('Blacklist', 'Crna lista'),
      intro: t(
        'A listed account cannot join a line, hold seats, buy tickets or receive one. Fans do not see the reason.',
        'Tko je na listi ne može stati u red, rezervirati, kupiti ni dobiti ulaznicu. Razlog ostaje ovdje.',
      ),
      fan: t('Account (UUID)', 'Račun (UUID)'),
      fanNeeded: t('Enter the id of the account.', 'Upišite oznaku računa.'),
      reason: t('Reason', 'Razlog'),
      reasonNeeded: t('Enter a reason.', 'Navedite razlog.'),
      untilLabel: t('Until (empty: for good)', 'Do (prazno: trajno)'),
      until: (at: string) => t(`until ${at}`, `do ${at}`),
      forGood: t('for good', 'trajno'),
      add: t('Put on the list', 'Stavi na listu'),
      lift: {
        label: t('Take off', 'Skini s liste'),
        question: t('Take this account off the list? It may buy at once.', 'Skinuti ovaj račun s liste? Odmah će moći kupovati.'),
        yes: t('Yes, take off', 'Da, skini'),
        no: cancel,
      },
    },
  };
}
