import type { OrderStatus } from '#contracts/orders';
import type { SeatStatus } from '#contracts/seats';
import type { TicketStatus } from '#contracts/tickets';
import { plural } from './plural.ts';
import type { Translate } from './texts.ts';

const seats = (count: number) => plural('en', count, { one: '1 seat', other: `${count} seats` });
const tickets = (count: number) => plural('en', count, { one: '1 ticket', other: `${count} tickets` });
const seatsInCroatian = (count: number) => plural('hr', count, { one: `${count} sjedalo`, other: `${count} sjedala` });
const ticketsAccusative = (count: number) =>
  plural('hr', count, { one: `${count} ulaznicu`, few: `${count} ulaznice`, other: `${count} ulaznica` });

/** The texts from the choice of seats to the tickets. */
export const purchaseTexts = (t: Translate) => ({
  seats: {
    title: t('Choose a sector', 'Odaberite sektor'),
    sectors: t('Sectors', 'Sektori'),
    changeSector: t('All sectors', 'Svi sektori'),
    free: (count: number) =>
      t(
        `${count.toLocaleString('en')} free`,
        `${count.toLocaleString('hr')} ${plural('hr', count, { one: 'slobodno', few: 'slobodna', other: 'slobodnih' })}`,
      ),
    freeOf: (free: string, capacity: string) => t(`${free} of ${capacity} free`, `slobodno ${free} od ${capacity}`),
    none: t('none free', 'nema slobodnih'),
    standing: t('Standing', 'Stajanje'),
    seated: t('Seats', 'Sjedenje'),
    gate: (gate: string) => t(`Gate ${gate}`, `Ulaz ${gate}`),
    wheelchair: t('Wheelchair places', 'Mjesta za osobe u kolicima'),
    each: t('each', 'po komadu'),
    chooseFirst: t('Choose a sector to see its seats and prices.', 'Odaberite sektor da biste vidjeli mjesta i cijene.'),
    bestTitle: t('Best available', 'Najbolja slobodna'),
    bestText: t('We look for the best seats next to each other.', 'Tražimo najbolja mjesta jedno do drugoga.'),
    standingText: t(
      'Standing places have no numbers. Say how many you need.',
      'Stajaća mjesta nemaju brojeve. Recite koliko ih trebate.',
    ),
    quantity: t('How many?', 'Koliko?'),
    fewer: t('One fewer', 'Jedno manje'),
    more: t('One more', 'Jedno više'),
    holdBest: t('Find seats', 'Pronađi mjesta'),
    holdStanding: t('Take places', 'Uzmi mjesta'),
    holding: t('One moment…', 'Trenutak…'),
    mapTitle: t('Or choose on the map', 'Ili odaberite na karti'),
    mapLabel: (sector: string) =>
      t(
        `Seats of ${sector}. Arrow keys move, space chooses.`,
        `Sjedala sektora ${sector}. Strelicama se krećete, razmaknicom birate.`,
      ),
    mapHint: t(
      'Tap or click the map to come closer, then choose a seat.',
      'Dodirnite ili kliknite kartu da se približite, a zatim odaberite sjedalo.',
    ),
    pitch: t('Pitch', 'Teren'),
    zoomIn: t('Closer', 'Bliže'),
    zoomOut: t('Farther', 'Dalje'),
    zoomAll: t('Whole sector', 'Cijeli sektor'),
    legend: t('Legend', 'Značenje znakova'),
    seatStatus: {
      available: t('free', 'slobodno'),
      held: t('on hold', 'netko drži'),
      sold: t('sold', 'prodano'),
      blocked: t('not for sale', 'nije u prodaji'),
      chosen: t('chosen by you', 'vaš odabir'),
    } satisfies Record<SeatStatus | 'chosen', string>,
    seatLabel: (row: string | null, number: number | null) =>
      t(
        row === null ? 'Standing place' : `Row ${row}, seat ${number ?? ''}`,
        row === null ? 'Stajaće mjesto' : `Red ${row}, sjedalo ${number ?? ''}`,
      ),
    chosenNone: t('No seat chosen yet', 'Još niste odabrali sjedalo'),
    chosen: (count: number) => t(`${seats(count)} chosen`, `Odabrano: ${seatsInCroatian(count)}`),
    clear: t('Clear', 'Poništi'),
    holdChosen: t('Take these seats', 'Uzmi ova mjesta'),
    limitHere: (limit: number) => t(`You can take up to ${tickets(limit)}.`, `Možete uzeti najviše ${ticketsAccusative(limit)}.`),
    chosenGone: t('A seat you had chosen has just been taken.', 'Sjedalo koje ste odabrali upravo je otišlo.'),
  },
  hold: {
    title: t('Held for you', 'Rezervirano za vas'),
    expiresIn: t('Reserved for', 'Čuvamo još'),
    apart: t(
      'There were not enough seats next to each other, so these are apart.',
      'Nije bilo dovoljno mjesta jedno do drugoga, pa su ova razdvojena.',
    ),
    total: t('Total', 'Ukupno'),
    checkout: t('Continue to checkout', 'Nastavi na plaćanje'),
    release: t(
      { label: 'Release seats', question: 'Release these seats?', yes: 'Yes, release', no: 'Keep them' },
      { label: 'Otpusti mjesta', question: 'Otpustiti ova mjesta?', yes: 'Da, otpusti', no: 'Zadrži' },
    ),
    expired: t(
      'Your hold has run out and the seats are free again. Choose again.',
      'Rezervacija je istekla i mjesta su opet slobodna. Odaberite ponovno.',
    ),
    ordered: t('You have started to pay for these seats.', 'Za ova ste mjesta započeli plaćanje.'),
    toPayment: t('Continue to payment', 'Nastavi plaćanje'),
    windowGone: t(
      'Your turn has ended, but these seats stay yours until the time above runs out.',
      'Vaše je vrijeme za kupnju prošlo, ali ova su mjesta vaša dok ne istekne gornje vrijeme.',
    ),
  },
  checkout: {
    title: t('Checkout', 'Blagajna'),
    steps: t('Steps', 'Koraci'),
    stepSeats: t('Seats', 'Mjesta'),
    stepDetails: t('Details', 'Podaci'),
    stepPayment: t('Payment', 'Plaćanje'),
    holdersTitle: t('Who is coming?', 'Tko dolazi?'),
    holdersText: t('Each ticket carries a name. Bring a document with it.', 'Svaka ulaznica glasi na ime. Ponesite i dokument.'),
    holderName: t('Name and surname', 'Ime i prezime'),
    emailTitle: t('Where do the tickets go?', 'Kamo da pošaljemo ulaznice?'),
    email: t('E-mail', 'E-pošta'),
    emailHint: t('The confirmation and your tickets are sent there.', 'Ondje stižu potvrda i ulaznice.'),
    nameNeeded: t('Enter a name.', 'Upišite ime.'),
    emailNeeded: t('Enter an e-mail address, such as ana@example.com.', 'Upišite adresu e-pošte, na primjer ana@primjer.hr.'),
    fixErrors: (count: number) =>
      t(
        plural('en', count, { one: 'One entry needs your attention.', other: `${count} entries need your attention.` }),
        `Treba ispraviti ${count} ${plural('hr', count, { one: 'unos', other: 'unosa' })}.`,
      ),
    submit: t('Continue to payment', 'Nastavi na plaćanje'),
    submitFree: t('Get the tickets', 'Preuzmi ulaznice'),
    submitting: t('One moment…', 'Trenutak…'),
    yourOrder: t('Your order', 'Vaša narudžba'),
    orderNumber: t('Order', 'Narudžba'),
    backToSeats: t('Back to the seats', 'Natrag na mjesta'),
    holdOver: t('Your hold has ended, so there is nothing to pay for.', 'Rezervacija je završila pa se nema što platiti.'),
    chooseAgain: t('Choose seats again', 'Ponovno odaberi mjesta'),
  },
  payment: {
    title: t('Payment', 'Plaćanje'),
    sandbox: t(
      'Test mode: no real money moves and no card is needed.',
      'Probni način: pravi se novac ne miče i kartica nije potrebna.',
    ),
    sandboxText: t('Choose what the bank should answer.', 'Odaberite što banka treba odgovoriti.'),
    pay: (amount: string) => t(`Pay ${amount}`, `Plati ${amount}`),
    decline: t('Decline the card', 'Odbij karticu'),
    abandon: t('Walk away without paying', 'Odustani bez plaćanja'),
    sending: t('Asking the bank…', 'Pitamo banku…'),
    declined: t(
      'The bank declined the payment. Nothing was charged; you can try again while the seats are on hold.',
      'Banka je odbila plaćanje. Ništa nije naplaćeno; možete pokušati ponovno dok mjesta čuvamo.',
    ),
    abandoned: t(
      'You left without paying. The seats stay on hold for the time shown; you can still pay.',
      'Otišli ste bez plaćanja. Mjesta čuvamo još prikazano vrijeme i još ih možete platiti.',
    ),
    unsure: t(
      'No answer from the payment provider. We are checking whether the payment went through.',
      'Pružatelj plaćanja nije odgovorio. Provjeravamo je li plaćanje prošlo.',
    ),
    elsewhere: (provider: string) =>
      t(
        `Payment by ${provider} is not offered on this page yet.`,
        `Plaćanje preko ${provider} na ovoj stranici još nije moguće.`,
      ),
  },
  order: {
    title: (number: string) => t(`Order ${number}`, `Narudžba ${number}`),
    statuses: {
      awaiting_payment: t('Waiting for payment', 'Čeka plaćanje'),
      completed: t('Paid', 'Plaćeno'),
      cancelled: t('Cancelled', 'Otkazano'),
      refunded: t('Refunded', 'Novac vraćen'),
      expired: t('Expired', 'Isteklo'),
    } satisfies Record<OrderStatus, string>,
    freeCompleted: t('Confirmed, free of charge', 'Potvrđeno, besplatno'),
    explained: {
      awaiting_payment: t(
        'Your bank’s answer usually takes a moment. You can leave this page: the tickets also come by e-mail.',
        'Odgovor banke obično stiže za trenutak. Smijete zatvoriti stranicu: ulaznice stižu i e-poštom.',
      ),
      completed: t(
        'Thank you. Your tickets are below and also come by e-mail.',
        'Hvala. Vaše su ulaznice ispod, a stižu i e-poštom.',
      ),
      cancelled: t('This order was cancelled and nothing was charged.', 'Narudžba je otkazana i ništa nije naplaćeno.'),
      refunded: t(
        'This order was refunded: its tickets are not valid, and all your money goes back to the card you paid with.',
        'Narudžba je vraćena: ulaznice ne vrijede, a sav novac vraćamo na karticu kojom je plaćeno.',
      ),
      expired: t(
        'The payment did not arrive while the seats were on hold. Nothing was charged.',
        'Uplata nije stigla dok su mjesta bila rezervirana. Ništa nije naplaćeno.',
      ),
    } satisfies Record<OrderStatus, string>,
    takingLong: t(
      'This takes longer than usual. You can close this page safely; we keep going and write to you.',
      'Traje dulje nego inače. Slobodno zatvorite stranicu; radimo dalje i javit ćemo vam se.',
    ),
    waitingTickets: t('Your tickets are being made…', 'Izrađujemo vaše ulaznice…'),
    toPayment: t('Go to payment', 'Na plaćanje'),
    history: t('What happened', 'Što se dogodilo'),
    allTickets: t('All my tickets', 'Sve moje ulaznice'),
    events: {
      created: t('Order placed', 'Narudžba predana'),
      payment_succeeded: t('Payment received', 'Uplata primljena'),
      payment_failed: t('Payment declined', 'Plaćanje odbijeno'),
      payment_mismatch: t('Payment had a different amount', 'Iznos nije bio traženi'),
      seats_gone: t('Seats already taken', 'Mjesta su već otišla'),
      blacklisted: t('This account may not buy', 'Ovaj račun ne smije kupovati'),
      erased: t('The data of this order were erased', 'Podaci ove narudžbe su izbrisani'),
      completed: t('Order completed', 'Narudžba završena'),
      cancelled: t('Order cancelled', 'Narudžba otkazana'),
      tickets_refunded: t('Money returned for some tickets', 'Novac vraćen za dio ulaznica'),
      refunded: t('Money returned', 'Novac vraćen'),
      expired: t('Order expired', 'Narudžba istekla'),
    } as Record<string, string>,
  },
  tickets: {
    title: t('My tickets', 'Moje ulaznice'),
    empty: t('You have no tickets yet.', 'Još nemate ulaznica.'),
    statuses: {
      valid: t('Valid', 'Vrijedi'),
      used: t('Used', 'Iskorištena'),
      transferred: t('Passed on', 'Prenesena'),
      refunded: t('Refunded', 'Vraćena'),
    } satisfies Record<TicketStatus, string>,
    holder: t('Holder', 'Imatelj'),
    sector: t('Sector', 'Sektor'),
    row: t('Row', 'Red'),
    seat: t('Seat', 'Sjedalo'),
    standing: t('Standing', 'Stajanje'),
    qr: (holder: string) => t(`QR code of the ticket of ${holder}`, `QR kod ulaznice na ime ${holder}`),
    qrFailed: t('The code could not be loaded.', 'Kod se nije mogao učitati.'),
    showAtGate: t('Show this code at the gate', 'Pokažite ovaj kod na ulazu'),
    voidNow: t('This code no longer opens the gate.', 'Ovaj kod više ne otvara ulaz.'),
  },
});
