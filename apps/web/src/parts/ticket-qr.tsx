import { useEffect, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useLanguage } from '../text/language.tsx';
import { Button } from './button.tsx';

/** An <img> cannot send the caller's headers, so the QR code is fetched here and shown as a blob URL. */
export function TicketQr({ ticketId, holder }: { ticketId: string; holder: string }) {
  const { texts } = useLanguage();
  const { api } = useAppServices();
  const [url, setUrl] = useState<string>();
  const [failedAttempts, setFailedAttempts] = useState(0);
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    const stop = new AbortController();
    let blobUrl: string | undefined;
    api
      .ticketQr(ticketId, stop.signal)
      .then((blob) => {
        if (stop.signal.aborted) return;
        blobUrl = URL.createObjectURL(blob);
        setUrl(blobUrl);
      })
      .catch(() => {
        if (!stop.signal.aborted) setFailedAttempts(attempt + 1);
      });
    return () => {
      stop.abort();
      if (blobUrl) URL.revokeObjectURL(blobUrl);
    };
  }, [api, ticketId, attempt]);

  if (url)
    return (
      <img className="ticket-qr" src={url} alt={texts.tickets.qr(holder)} width="220" height="220" data-testid="ticket-qr" />
    );
  if (failedAttempts <= attempt)
    return <span className="ticket-qr ticket-qr-empty" role="status" aria-label={texts.common.loading} />;
  return (
    <div className="ticket-qr ticket-qr-empty" role="alert">
      <p>{texts.tickets.qrFailed}</p>
      <Button onClick={() => setAttempt(attempt + 1)}>{texts.common.retry}</Button>
    </div>
  );
}
