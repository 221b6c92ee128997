const rules = { hr: new Intl.PluralRules('hr'), en: new Intl.PluralRules('en') };

/**
 * Chooses the plural form for `count`. Croatian has three forms (1 sjedalo, 2 sjedala, 5 sjedala). English has two, so English
 * texts omit `few`.
 */
export function plural(locale: 'hr' | 'en', count: number, forms: { one: string; few?: string; other: string }): string {
  const form = rules[locale].select(count);
  return (form === 'one' || form === 'few' ? forms[form] : undefined) ?? forms.other;
}
