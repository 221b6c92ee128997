import { useEffect, useState } from 'react';
import { useTribina } from '../api/tribina-context.ts';
import { useLanguage } from '../text/language.tsx';

/** The code needs the caller's header, which an <img> cannot send: fetched here and shown from the browser's memory. */
export function TicketQr({ ticketId, holder }: { ticketId: string; holder: string }) {
  const { texts } = useLanguage();
  const { tribina } = useTribina();
  const [url, setUrl] = useState<string>();
  const [failed, setFailed] = useState(0);
  const [round, setRound] = useState(0);

  useEffect(() => {
    const stop = new AbortController();
    let made: string | undefined;
    tribina
      .ticketQr(ticketId, stop.signal)
      .then((blob) => {
        if (stop.signal.aborted) return;
        made = URL.createObjectURL(blob);
        setUrl(made);
      })
      .catch(() => {
        if (!stop.signal.aborted) setFailed(round + 1);
      });
    return () => {
      stop.abort();
      if (made) URL.revokeObjectURL(made);
    };
  }, [tribina, ticketId, round]);

  if (url)
    return (
      <img className="ticket-qr" src={url} alt={texts.tickets.qr(holder)} width="220" height="220" data-testid="ticket-qr" />
    );
  if (failed <= round) return <span className="ticket-qr ticket-qr-empty" role="status" aria-label={texts.common.loading} />;
  return (
    <div className="ticket-qr ticket-qr-empty" role="alert">
      <p>{texts.tickets.qrFailed}</p>
      <button type="button" className="button" onClick={() => setRound(round + 1)}>
        {texts.common.retry}
      </button>
    </div>
  );
}
