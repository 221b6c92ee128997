import type { Problem } from '../api/problem.ts';
import { useLanguage } from '../text/language.tsx';
import { ProblemNotice } from './notice.tsx';

export function Loading() {
  const { texts } = useLanguage();
  return (
    <p className="loading" role="status">
      <span className="spinner" aria-hidden="true" />
      {texts.common.loading}
    </p>
  );
}

export function Failed({ problem, title, onRetry }: { problem: Problem; title?: string; onRetry?: () => void }) {
  const { texts } = useLanguage();
  return (
    <section className="card card-narrow">
      {title && <h1>{title}</h1>}
      <ProblemNotice problem={problem} />
      {onRetry && (
        <button type="button" className="button" onClick={onRetry}>
          {texts.common.retry}
        </button>
      )}
    </section>
  );
}
