import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { storage } from '../storage.ts';
import { type Format, formatFor } from './format.ts';
import { type Language, languages, type Texts } from './texts.ts';

interface LanguageState {
  language: Language;
  texts: Texts;
  format: Format;
  changeLanguage(language: Language): void;
}

const storageKey = 'tribina.language';
/** The locale of each language for dates and numbers. English uses the British date format (day before month). */
const locales: Record<Language, string> = { hr: 'hr-HR', en: 'en-GB' };

function firstLanguage(): Language {
  const chosen = storage.local.read(storageKey);
  if (chosen === 'hr' || chosen === 'en') return chosen;
  return navigator.language.toLowerCase().startsWith('hr') ? 'hr' : 'en';
}

const LanguageContext = createContext<LanguageState | undefined>(undefined);

/** Gives the language that the fan has chosen to all components below it. */
export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(firstLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const spoken = useMemo<LanguageState>(
    () => ({
      language,
      texts: languages[language],
      format: formatFor(locales[language]),
      changeLanguage: (next) => {
        storage.local.write(storageKey, next);
        setLanguage(next);
      },
    }),
    [language],
  );
  return <LanguageContext value={spoken}>{children}</LanguageContext>;
}

/** The language with its texts and format, for a component inside LanguageProvider. */
export function useLanguage(): LanguageState {
  const spoken = useContext(LanguageContext);
  if (!spoken) throw new Error('useLanguage outside of LanguageProvider');
  return spoken;
}
