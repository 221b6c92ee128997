import { useEffect, useState } from 'react';
import { useLanguage } from '../text/language.tsx';
import { useTimeLeft } from './use-time-left.ts';

const minuteMs = 60_000;
/** Screen readers hear these marks only; the seconds would drown everything else. */
const spokenMinutes = [10, 5, 2, 1];

interface CountdownProps {
  until: string;
  label: string;
  onOver?: () => void;
  testId?: string;
}

export function Countdown({ until, label, onOver, testId }: CountdownProps) {
  const { texts, format } = useLanguage();
  const left = useTimeLeft(until) ?? 0;
  const [spoken, setSpoken] = useState('');
  const mark = spokenMinutes.find((minutes) => Math.ceil(left / 1000) === minutes * 60);

  useEffect(() => {
    if (mark !== undefined) setSpoken(texts.turn.announceLeft(mark));
  }, [mark, texts]);

  const isOver = left === 0;
  useEffect(() => {
    if (isOver) onOver?.();
    // Once per end: a new handler on every render must not fire it again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [isOver]);

  return (
    <div className={left < 2 * minuteMs ? 'countdown countdown-short' : 'countdown'} data-testid={testId}>
      <span className="countdown-label">{label}</span>
      <span className="countdown-value" role="timer">
        {format.countdown(left)}
      </span>
      <span className="only-spoken" aria-live="polite">
        {spoken}
      </span>
    </div>
  );
}
