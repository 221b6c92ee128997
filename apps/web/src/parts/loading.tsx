import type { Problem } from '../api/problem.ts';
import { useLanguage } from '../text/language.tsx';
import { Button } from './button.tsx';
import { ProblemNotice } from './notice.tsx';

/** Shown while a page loads its data. */
export function Loading() {
  const { texts } = useLanguage();
  return (
    <p className="loading" role="status">
      <span className="spinner" aria-hidden="true" />
      {texts.common.loading}
    </p>
  );
}

/** Shown when a page could not load its data, with a button to try again. */
export function LoadingFailed({ problem, title, onRetry }: { problem: Problem; title?: string; onRetry?: () => void }) {
  const { texts } = useLanguage();
  return (
    <section className="card card-narrow">
      {title && <h1>{title}</h1>}
      <ProblemNotice problem={problem} />
      {onRetry && <Button onClick={onRetry}>{texts.common.retry}</Button>}
    </section>
  );
}
