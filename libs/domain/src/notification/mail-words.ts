import { moneyText } from '../shared/money.ts';

/** The languages of mails and pushes: Croatian and English. */
export type MailLocale = 'hr' | 'en';

/** A seat as the payload of a mail job names it. `row` and `seat` are null for a standing place. */
export interface MailSeat {
  readonly sector: string;
  readonly row: string | null;
  readonly seat: string | null;
}

type Variable = string | number | undefined | null;

/**
 * Template tag for a sentence with variables. A missing variable throws, so no mail says "Hello undefined". Line breaks in a
 * variable become spaces, so a value such as a match name cannot add lines or mail headers.
 */
export function say(parts: TemplateStringsArray, ...variables: readonly Variable[]): string {
  let text = parts[0] ?? '';
  for (const [index, variable] of variables.entries()) {
    if (variable === undefined || variable === null) throw new Error(`A variable is missing after "${parts[index]}"`);
    text += oneLine(String(variable)) + parts[index + 1];
  }
  return text;
}

// eslint-disable-next-line no-control-regex
const BREAKS = /[\u0000-\u001f\u007f\u0085\u2028\u2029]+/;
const ALL_BREAKS = new RegExp(BREAKS, 'g');

function oneLine(text: string): string {
  return (BREAKS.test(text) ? text.replace(ALL_BREAKS, ' ') : text).trim();
}

/** Kickoffs are stored in UTC and shown in the time zone of the stadiums, which is the same for the whole league. */
const VENUE_TIME_ZONE = 'Europe/Zagreb';

// We list the Croatian names instead of using Intl: a Node that was built with small ICU knows only English names.
const WEEKDAYS: Record<MailLocale, readonly string[]> = {
  hr: ['nedjelja', 'ponedjeljak', 'utorak', 'srijeda', 'četvrtak', 'petak', 'subota'],
  en: ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'],
};
const MONTHS: Record<MailLocale, readonly string[]> = {
  hr: 'siječnja veljače ožujka travnja svibnja lipnja srpnja kolovoza rujna listopada studenoga prosinca'.split(' '),
  en: 'January February March April May June July August September October November December'.split(' '),
};

const venueClock = new Intl.DateTimeFormat('en-GB', {
  timeZone: VENUE_TIME_ZONE,
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** "subota, 12. prosinca 2026. u 20:45" · "Saturday, 12 December 2026 at 20:45" */
export const kickoffText = momentText;

/** Writes an ISO time as date and time in the time zone of the stadiums, like `kickoffText`. */
export function momentText(moment: string, locale: MailLocale): string {
  const key = `${locale} ${moment}`;
  const known = writtenMoments.get(key) ?? writeMoment(moment, locale);
  if (writtenMoments.size >= MAX_WRITTEN_MOMENTS) writtenMoments.clear();
  writtenMoments.set(key, known);
  return known;
}

/**
 * Cache of written times, by locale and time. One broadcast writes the same kickoff a hundred thousand times, and formatting it
 * was a tenth of the cost of a mail.
 */
const writtenMoments = new Map<string, string>();
const MAX_WRITTEN_MOMENTS = 500;

function writeMoment(moment: string, locale: MailLocale): string {
  const part = Object.fromEntries(venueClock.formatToParts(Date.parse(moment)).map(({ type, value }) => [type, value]));
  const [year, month, day] = [Number(part.year), Number(part.month), Number(part.day)];
  const weekday = WEEKDAYS[locale][new Date(Date.UTC(year, month - 1, day)).getUTCDay()];
  const monthName = MONTHS[locale][month - 1];
  const time = `${part.hour}:${part.minute}`;
  return locale === 'hr'
    ? say`${weekday}, ${day}. ${monthName} ${year}. u ${time}`
    : say`${weekday}, ${day} ${monthName} ${year} at ${time}`;
}

/** "Zapad A, red 12, mjesto 15" · "North, standing" */
export function seatText({ sector, row, seat }: MailSeat, locale: MailLocale): string {
  if (row === null && seat === null) return locale === 'hr' ? say`${sector}, stajanje` : say`${sector}, standing`;
  return locale === 'hr' ? say`${sector}, red ${row}, mjesto ${seat}` : say`${sector}, row ${row}, seat ${seat}`;
}

/** An amount in the language of the mail: "70,00 EUR" · "EUR 70.00". Throws if the amount is missing, as `say` does. */
export function amountText(amount: string, locale: MailLocale): string {
  return moneyText(say`${amount}`, locale);
}

/** "2 tickets" or "2 ulaznice". Croatian plural forms: 1 ulaznica, 2 ulaznice, 5 ulaznica, 11 ulaznica, 21 ulaznica. */
export function ticketCountText(count: number, locale: MailLocale): string {
  if (locale === 'en') return say`${count} ${count === 1 ? 'ticket' : 'tickets'}`;
  const isTeen = count % 100 >= 11 && count % 100 <= 14;
  if (!isTeen && count % 10 >= 2 && count % 10 <= 4) return say`${count} ulaznice`;
  return say`${count} ulaznica`;
}

/** "2 places" or "2 mjesta". Croatian: 1 mjesto, 2 mjesta, 5 mjesta, 11 mjesta, 21 mjesto. */
export function placeCountText(count: number, locale: MailLocale): string {
  if (locale === 'en') return say`${count} ${count === 1 ? 'place' : 'places'}`;
  return say`${count} ${count % 10 === 1 && count % 100 !== 11 ? 'mjesto' : 'mjesta'}`;
}
