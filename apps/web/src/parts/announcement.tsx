import { useEffect, useRef, useState } from 'react';

const announceIntervalMs = 15_000;

/** A text for screen readers. A position can change every second, so at most every 15 s the latest text is announced. */
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
