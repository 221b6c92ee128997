import { useEffect, useState } from 'react';
import { serverNow } from '../api/server-clock.ts';
import { useLanguage } from '../text/language.tsx';

const minuteMs = 60_000;
/**
 * Screen readers announce the remaining time only at these minutes. An announcement every second would drown out the rest of the
 * page.
 */
const announcedMinutes = [10, 5, 2, 1];

interface CountdownProps {
  until: string;
  label: string;
  onEnd?: () => void;
  testId?: string;
}

/** The remaining time until `until`. Calls `onEnd` once at the end. */
export function Countdown({ until, label, onEnd, testId }: CountdownProps) {
  const { texts, format } = useLanguage();
  const leftMs = useTimeLeft(until);
  const [spokenText, setSpokenText] = useState('');
  const minutesToAnnounce = announcedMinutes.find((minutes) => Math.ceil(leftMs / 1000) === minutes * 60);

  useEffect(() => {
    if (minutesToAnnounce !== undefined) setSpokenText(texts.turn.announceLeft(minutesToAnnounce));
  }, [minutesToAnnounce, texts]);

  const hasEnded = leftMs === 0;
  useEffect(() => {
    if (hasEnded) onEnd?.();
    // onEnd is not a dependency: otherwise a later render with another onEnd function would call onEnd a second time.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [hasEnded]);

  return (
    <div className={leftMs < 2 * minuteMs ? 'countdown countdown-short' : 'countdown'} data-testid={testId}>
      <span className="countdown-label">{label}</span>
      <span className="countdown-value" role="timer">
        {format.countdown(leftMs)}
      </span>
      <span className="only-spoken" aria-live="polite">
        {spokenText}
      </span>
    </div>
  );
}

/** Milliseconds until `iso`, updated once a second and never negative. */
function useTimeLeft(iso: string): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    setNow(serverNow());
    const timer = setInterval(() => setNow(serverNow()), 1000);
    return () => clearInterval(timer);
  }, [iso]);
  return Math.max(0, Date.parse(iso) - now);
}
