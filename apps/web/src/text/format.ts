/** Formats amounts and times for the fan's language. */
export interface Format {
  money(cents: number, currency: string): string;
  number(value: number): string;
  /** Day and time in the fan's own time zone: "Fri 20 November, 20:00". */
  dateTime(iso: string): string;
  /** A time of day: "20:00". */
  time(iso: string): string;
  /** A time of day with seconds: "20:00:12". */
  clock(iso: string): string;
  /** A remaining time in minutes and seconds: "4:05". */
  countdown(ms: number): string;
}

/** The format of a locale such as `hr-HR`. */
export function formatFor(locale: string): Format {
  const number = new Intl.NumberFormat(locale);
  const dateTime = new Intl.DateTimeFormat(locale, {
    weekday: 'short',
    day: 'numeric',
    month: 'long',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const time = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
  const monies = new Map<string, Intl.NumberFormat>();
  return {
    money: (cents, currency) => {
      let format = monies.get(currency);
      if (!format) {
        format = new Intl.NumberFormat(locale, { style: 'currency', currency });
        monies.set(currency, format);
      }
      return format.format(cents / 100);
    },
    number: (value) => number.format(value),
    dateTime: (iso) => dateTime.format(new Date(iso)),
    time: (iso) => time.format(new Date(iso)),
    clock: (iso) => clock.format(new Date(iso)),
    countdown: (ms) => {
      const seconds = Math.max(0, Math.ceil(ms / 1000));
      return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    },
  };
}
