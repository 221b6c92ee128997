import { useTribina } from '../api/tribina-context.ts';
import type { Match } from '../api/types.ts';
import { HoldSummary } from '../parts/hold-summary.tsx';
import { Failed, Loading } from '../parts/loading.tsx';
import { MatchHeading } from '../parts/match-heading.tsx';
import { Notice, ProblemNotice } from '../parts/notice.tsx';
import { SaleExplained } from '../parts/sale-explained.tsx';
import { SeatChoice } from '../parts/seat-choice.tsx';
import { TurnBar } from '../parts/turn-bar.tsx';
import { useHold } from '../parts/use-hold.ts';
import { useLoaded } from '../parts/use-loaded.ts';
import { WaitingLine } from '../parts/waiting-line.tsx';
import { useWaitingRoom } from '../queue/use-waiting-room.ts';
import { useLanguage } from '../text/language.tsx';

/** Often enough that an opened, paused or resumed sale is noticed, rare enough for a full stadium in front of it. */
const refreshMs = 10_000;

export function MatchPage({ matchId }: { matchId: string }) {
  const { tribina } = useTribina();
  const { value: match, problem, reload } = useLoaded((signal) => tribina.match(matchId, signal), matchId, refreshMs);
  if (match) return <MatchOffer match={match} />;
  return problem ? <Failed problem={problem} onRetry={reload} /> : <Loading />;
}

/** One stage at a time: the seats on hold, else the seat choice, else the line, else why there is nothing to do. */
function MatchOffer({ match }: { match: Match }) {
  const { texts } = useLanguage();
  const { caller } = useTribina();
  const withLine = match.queue_required && caller.signedIn;
  const { state: line, room } = useWaitingRoom(match.id, withLine);
  const turn = line.stage.name === 'turn' ? line.stage : undefined;
  const hold = useHold(match.id, { sessionToken: turn?.sessionToken, onTurnRefused: room.distrustTurn });
  const maySell = match.sale.status === 'open' || (match.sale.status === 'paused' && turn !== undefined);
  const mayChoose = maySell && (!match.queue_required || turn !== undefined);
  const lineRuns = match.sale.status === 'open' || match.sale.status === 'paused' || line.stage.name === 'over';

  const stage = () => {
    if (!caller.signedIn) return <Notice tone="info">{texts.fan.needed}</Notice>;
    if (hold.loading) return <Loading />;
    if (hold.reservation) return <HoldSummary hold={hold} reservation={hold.reservation} turnOver={line.stage.name === 'over'} />;
    if (mayChoose) return <SeatChoice match={match} hold={hold} />;
    if (match.queue_required && (lineRuns || turn)) return <WaitingLine match={match} state={line} room={room} />;
    return <SaleExplained match={match} />;
  };

  return (
    <>
      <MatchHeading match={match} />
      {turn && <TurnBar turn={turn} room={room} />}
      {hold.expired && <Notice tone="warning">{texts.hold.expired}</Notice>}
      {hold.problem && !hold.reservation && !mayChoose && <ProblemNotice problem={hold.problem} />}
      {stage()}
    </>
  );
}
