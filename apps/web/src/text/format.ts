/** Formats amounts and times for the fan's language. */
export type Format = ReturnType<typeof formatFor>;

/** The format of a locale such as `hr-HR`. */
export function formatFor(locale: string) {
  const number = new Intl.NumberFormat(locale);
  const dateTime = new Intl.DateTimeFormat(locale, {
    weekday: 'short',
    day: 'numeric',
    month: 'long',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
  const monies = new Map<string, Intl.NumberFormat>();
  return {
    money(cents: number, currency: string): string {
      const format = monies.get(currency) ?? new Intl.NumberFormat(locale, { style: 'currency', currency });
      monies.set(currency, format);
      return format.format(cents / 100);
    },
    number: (value: number) => number.format(value),
    /** Day and time in the fan's own time zone: "Fri 20 November, 20:00". */
    dateTime: (iso: string) => dateTime.format(new Date(iso)),
    /** A time of day with seconds: "20:00:12". */
    clock: (iso: string) => clock.format(new Date(iso)),
    /** A remaining time in minutes and seconds: "4:05". */
    countdown(ms: number): string {
      const seconds = Math.max(0, Math.ceil(ms / 1000));
      return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    },
  };
}
