const rules = new Map<string, Intl.PluralRules>();

/** Croatian has three plural forms (1 sjedalo, 2 sjedala, 5 sjedala). English has two, so its texts omit `few`. */
export function plural(locale: 'hr' | 'en', count: number, forms: { one: string; few?: string; other: string }): string {
  let rule = rules.get(locale);
  if (!rule) {
    rule = new Intl.PluralRules(locale);
    rules.set(locale, rule);
  }
  const form = rule.select(count);
  if (form === 'one') return forms.one;
  return form === 'few' ? (forms.few ?? forms.other) : forms.other;
}
