import type { WaitingRoom } from '../queue/waiting-room.ts';
import { useLanguage } from '../text/language.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { Countdown } from './countdown.tsx';

/** The purchase window, always in sight while it runs. When it is over the server says so; we ask if it does not. */
export function TurnBar({ turn, room }: { turn: { expiresAt: string }; room: WaitingRoom }) {
  const { texts } = useLanguage();
  return (
    <section className="turn-bar" aria-label={texts.turn.title} data-testid="turn-bar">
      <p className="turn-bar-title" role="status">
        {texts.turn.title}
      </p>
      <Countdown until={turn.expiresAt} label={texts.turn.timeLeft} onOver={room.distrustTurn} testId="turn-countdown" />
      <ConfirmButton
        label={texts.turn.leave}
        question={texts.turn.leaveSure}
        yes={texts.line.leaveYes}
        no={texts.line.stay}
        onConfirm={() => void room.leave()}
        testId="leave-turn"
      />
    </section>
  );
}
