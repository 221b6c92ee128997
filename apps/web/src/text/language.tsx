import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { storage } from '../storage.ts';
import { en, type Texts } from './en.ts';
import { type Format, formatFor } from './format.ts';
import { hr } from './hr.ts';

export type Language = 'hr' | 'en';
export const languages: Record<Language, Texts> = { hr, en };

interface Spoken {
  language: Language;
  texts: Texts;
  format: Format;
  speak(language: Language): void;
}

const storedName = 'tribina.language';
/** British order of day and month; Croatian as is. */
const locales: Record<Language, string> = { hr: 'hr-HR', en: 'en-GB' };

function firstLanguage(): Language {
  const chosen = storage.local.read(storedName);
  if (chosen === 'hr' || chosen === 'en') return chosen;
  return navigator.language.toLowerCase().startsWith('hr') ? 'hr' : 'en';
}

const LanguageContext = createContext<Spoken | undefined>(undefined);

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(firstLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const spoken = useMemo<Spoken>(
    () => ({
      language,
      texts: languages[language],
      format: formatFor(locales[language]),
      speak: (next) => {
        storage.local.write(storedName, next);
        setLanguage(next);
      },
    }),
    [language],
  );
  return <LanguageContext value={spoken}>{children}</LanguageContext>;
}

export function useLanguage(): Spoken {
  const spoken = useContext(LanguageContext);
  if (!spoken) throw new Error('useLanguage outside of LanguageProvider');
  return spoken;
}
