import { useEffect, useRef, useState } from 'react';

const announceIntervalMs = 15_000;

/**
 * A text that screen readers read aloud. The latest text is announced at most every 15 s, because a position in the line can
 * change every second.
 */
export function Announcement({ text }: { text: string }) {
  const latest = useRef(text);
  const [spokenText, setSpokenText] = useState(text);
  useEffect(() => {
    latest.current = text;
  }, [text]);
  useEffect(() => {
    const timer = setInterval(() => setSpokenText(latest.current), announceIntervalMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="only-spoken" aria-live="polite">
      {spokenText}
    </p>
  );
}
