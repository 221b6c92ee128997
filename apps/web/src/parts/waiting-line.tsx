import type { Match } from '#contracts/matches';
import { useEffect, useRef, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import type { LineState, LineEndReason, RoomState } from '../queue/room-state.ts';
import type { WaitingRoom } from '../queue/waiting-room.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { Button, ConfirmButton } from './button.tsx';
import { Link } from './link.tsx';
import { Loading, Notice, ProblemNotice } from './notice.tsx';
import { useLoaded } from './use-loaded.ts';

const announceIntervalMs = 15_000;

interface WaitingLineProps {
  match: Match;
  state: RoomState;
  room: WaitingRoom;
}

/** What a fan without a turn sees: the button to join the line, the position in it, or why the fan is no longer in it. */
export function WaitingLine({ match, state, room }: WaitingLineProps) {
  const { stage } = state;
  if (stage.name === 'loading') return <Loading />;
  if (stage.name === 'waiting') return <InLine line={stage.line} state={state} room={room} />;
  if (stage.name === 'ended') return <LineEnded reason={stage.reason} state={state} room={room} match={match} />;
  return <JoinInvitation match={match} state={state} room={room} />;
}

function JoinInvitation({ match, state, room }: WaitingLineProps) {
  const { texts } = useLanguage();
  const { api } = useAppServices();
  const { value: status } = useLoaded((signal) => api.queueStatus(match.id, signal), match.id, 10_000);
  return (
    <section className="card card-narrow stage">
      <h2>{texts.line.joinTitle}</h2>
      <p>{texts.line.joinText(match.max_tickets_per_fan)}</p>
      {status && (
        <p className="stage-strong">
          {texts.line.inLineNow(status.total)}
          {status.estimated_wait_minutes !== null && ` · ${texts.line.waitMinutes(status.estimated_wait_minutes)}`}
        </p>
      )}
      {status?.status === 'paused' && <Notice tone="warning">{texts.line.paused}</Notice>}
      {state.problem && <ProblemNotice problem={state.problem} />}
      <Button tone="primary" wide disabled={state.busy} onClick={() => void room.join()} testId="join-queue">
        {state.busy ? texts.line.joining : texts.line.join}
      </Button>
      <p className="fine-print">{texts.line.keepOpen}</p>
    </section>
  );
}

function InLine({ line, state, room }: { line: LineState; state: RoomState; room: WaitingRoom }) {
  const { texts, format } = useLanguage();
  const [firstPosition] = useState(line.position);
  const wait = useWaitText(line);
  const progress = firstPosition > 1 ? Math.min(1, Math.max(0, (firstPosition - line.position) / (firstPosition - 1))) : 1;
  const remaining = line.remaining_sectors ?? [];
  const isLive = state.link === 'live' && !state.delayed;
  return (
    <section className="card card-narrow stage line" data-testid="waiting-line">
      <div className="line-top">
        <h2>{texts.line.title}</h2>
        <span className={isLive ? 'live live-on' : 'live'} data-testid="line-link">
          {isLive ? texts.line.live : texts.line.connecting}
        </span>
      </div>
      <p className="line-label" id="line-position-label">
        {texts.line.yourPosition}
      </p>
      <p className="line-position" data-testid="queue-position" aria-labelledby="line-position-label">
        {format.number(line.position)}
      </p>
      <p className="line-total">{line.position <= 1 ? texts.line.next : texts.line.ofTotal(format.number(line.total))}</p>
      <progress className="line-progress" aria-label={texts.line.progress} max={1} value={progress} />
      <dl className="line-wait">
        <dt>{texts.line.wait}</dt>
        <dd data-testid="queue-wait">{wait}</dd>
      </dl>
      <Announcement text={texts.line.announce(format.number(line.position), wait)} />
      {line.paused && (
        <Notice tone="warning">{line.reason ? texts.line.pausedReason(asSentence(line.reason)) : texts.line.paused}</Notice>
      )}
      {!isLive && <Notice tone="info">{state.delayed ? texts.line.delayed : texts.line.reconnecting}</Notice>}
      {remaining.length > 0 && (
        <p className="fine-print">
          {texts.line.remaining}: {remaining.map((sector) => `${sector.name} (${sector.available})`).join(', ')}
        </p>
      )}
      {state.problem && <ProblemNotice problem={state.problem} />}
      <p className="fine-print">{texts.line.keepOpen}</p>
      <ConfirmButton texts={texts.line.leave} disabled={state.busy} onConfirm={() => void room.leave()} testId="leave-queue" />
    </section>
  );
}

function LineEnded({ reason, state, room, match }: { reason: LineEndReason } & WaitingLineProps) {
  const { texts } = useLanguage();
  const { title, text } = texts.line.over[reason];
  const isSaleRunning = match.sale.status === 'open' || match.sale.status === 'paused';
  const canJoinAgain = isSaleRunning && reason !== 'sold_out' && reason !== 'closed';
  return (
    <section className="card card-narrow stage" role="status" data-testid="line-over" data-why={reason}>
      <h2>{title}</h2>
      <p>{text}</p>
      {state.problem && <ProblemNotice problem={state.problem} />}
      <div className="button-row">
        {canJoinAgain && (
          <Button tone="primary" disabled={state.busy} onClick={() => void room.join()} testId="join-queue">
            {reason === 'replaced' ? texts.line.takeOver : texts.line.joinAgain}
          </Button>
        )}
        {reason === 'turn_completed' && (
          <Link to={paths.tickets} className="button">
            {texts.nav.tickets}
          </Link>
        )}
        <Link to={paths.matches} className="button">
          {texts.common.backToMatches}
        </Link>
      </div>
    </section>
  );
}

function useWaitText({ estimated_wait_range: range, estimated_wait_minutes: minutes }: LineState): string {
  const { texts } = useLanguage();
  if (range && range[0] < range[1]) return texts.line.waitBetween(...range);
  return minutes === null ? texts.line.waitUnknown : texts.line.waitMinutes(minutes);
}

const asSentence = (text: string) => (/[.!?]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`);

/**
 * A text that screen readers read aloud. The latest text is announced at most every 15 s, because a position in the line can
 * change every second.
 */
function Announcement({ text }: { text: string }) {
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
