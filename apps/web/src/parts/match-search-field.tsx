import { useLanguage } from '../text/language.tsx';
import { Field } from './field.tsx';
import type { MatchSearch } from './use-match-search.ts';

/** The longest search text that the API accepts: `q` of `GET /matches`. */
const MAX_LENGTH = 100;

/** The search field above a list of matches. Says if nothing was found, also to screen readers. */
export function MatchSearchField({ search }: { search: Omit<MatchSearch<unknown>, 'reload' | 'problem'> }) {
  const { texts } = useLanguage();
  if (!search.isOffered) return null;
  return (
    <form
      role="search"
      className="match-search"
      onSubmit={(event) => {
        event.preventDefault();
        search.submit();
      }}
      noValidate
    >
      <Field
        label={texts.matches.search}
        type="search"
        value={search.input}
        onChange={search.change}
        autoComplete="off"
        maxLength={MAX_LENGTH}
        testId="match-search"
      />
      <p role="status" className="match-search-result" data-testid="match-search-result">
        {search.text && search.value?.items.length === 0 && texts.matches.nothingFound(search.text)}
      </p>
    </form>
  );
}
