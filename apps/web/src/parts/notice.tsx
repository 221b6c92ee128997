import { type ReactNode, useEffect, useRef } from 'react';
import type { Problem } from '../api/problem.ts';
import { useLanguage } from '../text/language.tsx';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

type Tone = 'info' | 'good' | 'warning' | 'bad';

const signs = { info: 'info', good: 'check', warning: 'attention', bad: 'attention' } as const;

/** A framed message. Its tone (good, bad …) is shown by colour and by an icon, for readers who do not see colours. */
export function Notice({ tone, children, testId }: { tone: Tone; children: ReactNode; testId?: string }) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On a phone the message may be outside the visible part. Without this scrolling, the button that the fan pressed would seem
    // to do nothing.
    if (tone === 'bad') frame.current?.scrollIntoView({ block: 'nearest' });
  }, [tone]);
  return (
    <div ref={frame} className={`notice notice-${tone}`} role={tone === 'bad' ? 'alert' : 'status'} data-testid={testId}>
      <span className="notice-sign">
        <Icon name={signs[tone]} />
      </span>
      <div>{children}</div>
    </div>
  );
}

/** Shows why an API call failed, or `text` where the page knows it better. For a server error the text includes the request id, with which support finds the log lines. */
export function ProblemNotice({ problem, text, children }: { problem: Problem; text?: string; children?: ReactNode }) {
  const { texts, format } = useLanguage();
  const isServerError = problem.status >= 500 || problem.code === 'UNKNOWN';
  return (
    <Notice tone="bad" testId="problem">
      <p>{text ?? texts.problems[problem.code](problem, format)}</p>
      {isServerError && problem.requestId && <p className="fine-print">{texts.common.requestId(problem.requestId)}</p>}
      {children}
    </Notice>
  );
}

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
