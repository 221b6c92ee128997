import type { WaitingRoom } from '../queue/waiting-room.ts';
import { useLanguage } from '../text/language.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { Countdown } from './countdown.tsx';

/**
 * Shows the remaining time of the turn. When the time is over the page asks the server for the state, in case the server's
 * message about the end is lost.
 */
export function TurnBar({ turn, room }: { turn: { expiresAt: string }; room: WaitingRoom }) {
  const { texts } = useLanguage();
  return (
    <section className="turn-bar" aria-label={texts.turn.title} data-testid="turn-bar">
      <p className="turn-bar-title" role="status">
        {texts.turn.title}
      </p>
      <Countdown until={turn.expiresAt} label={texts.turn.timeLeft} onEnd={room.recheckTurn} testId="turn-countdown" />
      <ConfirmButton texts={texts.turn.leave} onConfirm={() => void room.leave()} testId="leave-turn" />
    </section>
  );
}
