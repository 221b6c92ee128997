import { type ReactNode, useEffect, useRef } from 'react';
import type { Problem } from '../api/problem.ts';
import { useLanguage } from '../text/language.tsx';
import { describeProblem } from '../text/problem-texts.ts';
import { Sign } from './sign.tsx';

type Tone = 'info' | 'good' | 'warning' | 'bad';

const signs = { info: 'info', good: 'check', warning: 'attention', bad: 'attention' } as const;

/** A sentence with a frame; the sign keeps the tone readable without colours. */
export function Notice({ tone, children, testId }: { tone: Tone; children: ReactNode; testId?: string }) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // A refusal above or below what a phone shows would look like a dead button.
    if (tone === 'bad') frame.current?.scrollIntoView({ block: 'nearest' });
  }, [tone]);
  return (
    <div ref={frame} className={`notice notice-${tone}`} role={tone === 'bad' ? 'alert' : 'status'} data-testid={testId}>
      <span className="notice-sign">
        <Sign name={signs[tone]} />
      </span>
      <div>{children}</div>
    </div>
  );
}

/** Server-side faults carry the id under which support finds them in the logs. */
export function ProblemNotice({ problem, children }: { problem: Problem; children?: ReactNode }) {
  const { texts, format } = useLanguage();
  const isOurs = problem.status >= 500 || problem.code === 'UNKNOWN';
  return (
    <Notice tone="bad" testId="problem">
      <p>{describeProblem(problem, texts.problems, format)}</p>
      {isOurs && problem.requestId && <p className="fine-print">{texts.common.requestId(problem.requestId)}</p>}
      {children}
    </Notice>
  );
}
