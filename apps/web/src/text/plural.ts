const rules = new Map<string, Intl.PluralRules>();

/**
 * Chooses the plural form for `count`. Croatian has three forms (1 sjedalo, 2 sjedala, 5 sjedala). English has two, so English
 * texts omit `few`.
 */
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
