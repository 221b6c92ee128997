import type { Match } from '#contracts/matches';
import type { Reservation } from '#contracts/reservations';
import { useAppServices } from '../api/app-services.ts';
import { ConfirmButton } from '../parts/button.tsx';
import { Countdown } from '../parts/countdown.tsx';
import { Icon } from '../parts/icon.tsx';
import { Link } from '../parts/link.tsx';
import { MatchFacts, SaleBadge, TeamCrest } from '../parts/match-facts.tsx';
import { Loading, Notice, ProblemNotice } from '../parts/notice.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { SeatChoice } from '../parts/seat-choice.tsx';
import { SeatPrices } from '../parts/seat-prices.tsx';
import { type Hold, useHold } from '../parts/use-hold.ts';
import { useLoaded } from '../parts/use-loaded.ts';
import { WaitingLine } from '../parts/waiting-line.tsx';
import { useWaitingRoom } from '../queue/use-waiting-room.ts';
import type { WaitingRoom } from '../queue/waiting-room.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { matchTitle } from '../text/match-title.ts';

/**
 * How often the page reloads the match to notice an opened, paused or resumed sale. A shorter interval would overload the API,
 * because a full stadium of fans sends this request.
 */
const refreshMs = 10_000;

/** The page of one match: line, seat choice and held seats. */
export function MatchPage({ matchId }: { matchId: string }) {
  const { api } = useAppServices();
  const { value: match, problem, reload } = useLoaded((signal) => api.match(matchId, signal), matchId, refreshMs);
  if (match) return <MatchContent match={match} />;
  return <Loading problem={problem} onRetry={reload} />;
}

/** Shows the first that applies: the held seats, the seat choice, the waiting line, or why there is nothing to buy. */
function MatchContent({ match }: { match: Match }) {
  const { texts } = useLanguage();
  const { caller } = useAppServices();
  const usesLine = match.queue_required && caller.signedIn;
  const { state: line, room } = useWaitingRoom(match.id, usesLine);
  const turn = line.stage.name === 'turn' ? line.stage : undefined;
  const hold = useHold(match.id, { sessionToken: turn?.sessionToken, onTurnRefused: room.recheckTurn });
  const canSell = match.sale.status === 'open' || (match.sale.status === 'paused' && turn !== undefined);
  const canChooseSeats = canSell && (!match.queue_required || turn !== undefined);
  const showsLine = match.sale.status === 'open' || match.sale.status === 'paused' || line.stage.name === 'ended';

  const stage = () => {
    if (!caller.signedIn) return <Notice tone="info">{texts.fan.needed}</Notice>;
    if (hold.isLoading) return <Loading />;
    if (hold.reservation)
      return <HoldSummary hold={hold} reservation={hold.reservation} isTurnOver={line.stage.name === 'ended'} />;
    if (canChooseSeats) return <SeatChoice match={match} hold={hold} />;
    if (match.queue_required && (showsLine || turn)) return <WaitingLine match={match} state={line} room={room} />;
    return <SaleExplained match={match} />;
  };

  return (
    <>
      <MatchHeading match={match} />
      {turn && <TurnBar turn={turn} room={room} />}
      {hold.hasExpired && <Notice tone="warning">{texts.hold.expired}</Notice>}
      {hold.problem && !hold.reservation && !canChooseSeats && <ProblemNotice problem={hold.problem} />}
      {stage()}
    </>
  );
}

/**
 * Shows the remaining time of the turn. When the time is over the page asks the server for the state, in case the server's
 * message about the end is lost.
 */
function TurnBar({ turn, room }: { turn: { expiresAt: string }; room: WaitingRoom }) {
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

/** Explains why nothing can be bought now and what the fan can do. */
function SaleExplained({ match }: { match: Match }) {
  const { texts, format } = useLanguage();
  const { status, opens_at: opensAt } = match.sale;
  return (
    <section className="card card-narrow stage" data-testid="sale-explained">
      <h2>{texts.saleStatus[status]}</h2>
      {status === 'scheduled' && opensAt && <p className="stage-strong">{texts.matches.opensAt(format.dateTime(opensAt))}</p>}
      <p>{texts.saleExplained[status === 'open' ? 'paused' : status]}</p>
    </section>
  );
}

/** The top of a match page: teams, kickoff, venue and the state of the sale. */
function MatchHeading({ match }: { match: Match }) {
  const { texts } = useLanguage();
  const title = matchTitle(match);
  return (
    <div className="match-heading">
      <Link to={paths.matches} className="back-link">
        <Icon name="back" /> {texts.common.backToMatches}
      </Link>
      <div className="match-heading-row">
        <span className="match-crests">
          <TeamCrest name={match.home} />
          <TeamCrest name={match.away} />
        </span>
        <div>
          <PageTitle>{title}</PageTitle>
          <MatchFacts match={match} />
        </div>
        <SaleBadge status={match.sale.status} />
      </div>
    </div>
  );
}

interface HoldSummaryProps {
  hold: Hold;
  reservation: Reservation;
  isTurnOver: boolean;
}

/** Shows the held seats with their countdown, and the buttons to check out or to release them. */
function HoldSummary({ hold, reservation, isTurnOver }: HoldSummaryProps) {
  const { texts } = useLanguage();
  const inCheckout = reservation.status === 'ordered';
  return (
    <section className="card card-narrow stage" data-testid="hold-summary" data-reservation-id={reservation.id}>
      <div className="stage-top">
        <h2>{texts.hold.title}</h2>
        <Countdown until={reservation.expires_at} label={texts.hold.expiresIn} onEnd={hold.endAtExpiry} testId="hold-countdown" />
      </div>
      {inCheckout && <p>{texts.hold.ordered}</p>}
      {!reservation.together && <Notice tone="warning">{texts.hold.apart}</Notice>}
      {isTurnOver && !inCheckout && <Notice tone="info">{texts.hold.windowGone}</Notice>}
      <SeatPrices reservation={reservation} />
      {hold.problem && <ProblemNotice problem={hold.problem} />}
      <Link to={paths.checkout(reservation.match_id)} className="button button-primary button-wide" testId="go-checkout">
        {inCheckout ? texts.hold.toPayment : texts.hold.checkout}
      </Link>
      <ConfirmButton texts={texts.hold.release} disabled={hold.isBusy} onConfirm={hold.release} testId="release" />
    </section>
  );
}
