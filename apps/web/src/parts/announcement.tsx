import { useEffect, useRef, useState } from 'react';

const everyMs = 15_000;

/** Positions may change every second; screen readers are told at most every 15 s, and then the latest. */
export function Announcement({ text }: { text: string }) {
  const latest = useRef(text);
  const [said, setSaid] = useState(text);
  useEffect(() => {
    latest.current = text;
  }, [text]);
  useEffect(() => {
    const timer = setInterval(() => setSaid(latest.current), everyMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="only-spoken" aria-live="polite">
      {said}
    </p>
  );
}
