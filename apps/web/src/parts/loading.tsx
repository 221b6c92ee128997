import type { Problem } from '../api/problem.ts';
import { useLanguage } from '../text/language.tsx';
import { Button } from './button.tsx';
import { ProblemNotice } from './notice.tsx';

interface LoadingProps {
  problem?: Problem;
  title?: string;
  onRetry?: () => void;
}

/** Shown while a page loads its data, or could not load it. Then it has a button to try again. */
export function Loading({ problem, title, onRetry }: LoadingProps) {
  const { texts } = useLanguage();
  if (!problem) {
    return (
      <p className="loading" role="status">
        <span className="spinner" aria-hidden="true" />
        {texts.common.loading}
      </p>
    );
  }
  return (
    <section className="card card-narrow">
      {title && <h1>{title}</h1>}
      <ProblemNotice problem={problem} />
      {onRetry && <Button onClick={onRetry}>{texts.common.retry}</Button>}
    </section>
  );
}
