import type { LineEndReason } from '../queue/room-state.ts';
import { plural } from './plural.ts';
import type { Translate } from './texts.ts';

const tickets = (count: number) => plural('en', count, { one: '1 ticket', other: `${count} tickets` });
const minutes = (count: number) => plural('en', count, { one: '1 minute', other: `${count} minutes` });
const ticketsGenitive = (count: number) =>
  plural('hr', count, { one: `${count} ulaznice`, few: `${count} ulaznice`, other: `${count} ulaznica` });
const minutesInCroatian = (count: number) =>
  plural('hr', count, { one: `${count} minuta`, few: `${count} minute`, other: `${count} minuta` });
const minutesGenitive = (count: number) =>
  plural('hr', count, { one: `${count} minute`, few: `${count} minute`, other: `${count} minuta` });

/** The texts of the waiting room and of the turn. */
export const lineTexts = (t: Translate) => ({
  line: {
    title: t('Waiting room', 'Čekaonica'),
    joinTitle: t('Tickets are sold from a waiting room', 'Ulaznice se prodaju iz čekaonice'),
    joinText: (limit: number) =>
      t(
        `Everybody joins one line, first come, first served. When it is your turn you have a protected time to choose up to ${tickets(limit)}.`,
        `Svi staju u isti red: tko prije dođe, prije kupuje. Kad dođete na red, imate zajamčeno vrijeme da odaberete do ${ticketsGenitive(limit)}.`,
      ),
    join: t('Join the waiting room', 'Stani u red'),
    joining: t('Joining…', 'Ulazak u red…'),
    joinAgain: t('Join again', 'Ponovno stani u red'),
    takeOver: t('Continue here', 'Nastavi ovdje'),
    inLineNow: (count: number) =>
      t(
        plural('en', count, { one: '1 fan in line now', other: `${count.toLocaleString('en')} fans in line now` }),
        `${count.toLocaleString('hr')} ${plural('hr', count, { one: 'navijač', other: 'navijača' })} u redu`,
      ),
    yourPosition: t('Your position', 'Vaše mjesto u redu'),
    ofTotal: (total: string) => t(`of ${total} in line`, `od ${total} u redu`),
    next: t('You are next', 'Vi ste sljedeći'),
    wait: t('Estimated wait', 'Procjena čekanja'),
    waitMinutes: (count: number) =>
      t(
        count < 1 ? 'less than a minute' : `about ${minutes(count)}`,
        count < 1 ? 'manje od minute' : `oko ${minutesGenitive(count)}`,
      ),
    waitBetween: (from: number, to: number) => t(`${from}–${to} minutes`, `${from}–${to} min`),
    waitUnknown: t('not known yet', 'još nije poznata'),
    progress: t('Progress in line', 'Napredak u redu'),
    announce: (position: string, wait: string) =>
      t(`Position ${position}. Estimated wait: ${wait}.`, `Mjesto u redu: ${position}. Procjena čekanja: ${wait}.`),
    paused: t('The line is paused at the moment. Your place is safe.', 'Red trenutačno stoji. Vaše je mjesto sačuvano.'),
    pausedReason: (reason: string) =>
      t(`The line is paused: ${reason} Your place is safe.`, `Red stoji: ${reason} Vaše je mjesto sačuvano.`),
    delayed: t('Updates are late at the moment. Your place is safe.', 'Obavijesti trenutačno kasne. Vaše je mjesto sačuvano.'),
    live: t('Live', 'Uživo'),
    connecting: t('Connecting…', 'Spajanje…'),
    reconnecting: t('Reconnecting… Your place is safe.', 'Ponovno spajanje… Vaše je mjesto sačuvano.'),
    remaining: t('Still available', 'Još slobodno'),
    keepOpen: t(
      'Keep this page open. If the connection drops or you close it, your place is kept for 30 minutes.',
      'Ostavite ovu stranicu otvorenu. Prekine li se veza ili je zatvorite, mjesto vam čuvamo 30 minuta.',
    ),
    leave: t(
      { label: 'Leave the line', question: 'Give up your place?', yes: 'Yes, leave', no: 'Stay' },
      { label: 'Napusti red', question: 'Odustajete od svojega mjesta?', yes: 'Da, napusti', no: 'Ostani' },
    ),
    over: {
      sold_out: t(
        { title: 'Sold out', text: 'All tickets are gone, so the line has ended. Nothing was charged.' },
        { title: 'Rasprodano', text: 'Sve su ulaznice otišle i red je završen. Ništa nije naplaćeno.' },
      ),
      closed: t(
        { title: 'The sale has closed', text: 'The organiser closed the sale, and the line with it.' },
        { title: 'Prodaja je zatvorena', text: 'Organizator je zatvorio prodaju, a s njom i red.' },
      ),
      turn_expired: {
        title: t('Your time is up', 'Vrijeme je isteklo'),
        text: t(
          'Your turn has ended. Seats you hold stay yours until their own time runs out.',
          'Vaš je red za kupnju prošao. Mjesta koja držite ostaju vaša dok ne istekne njihovo vrijeme.',
        ),
      },
      turn_completed: t(
        { title: 'Purchase completed', text: 'Your turn ended with your order. Your tickets are under My tickets.' },
        { title: 'Kupnja je završena', text: 'Vaš je red za kupnju završio s narudžbom. Ulaznice su pod Moje ulaznice.' },
      ),
      dropped: {
        title: t('Your place has lapsed', 'Vaše mjesto je propalo'),
        text: t(
          'We did not see you for too long, so the others moved up. You can join again at the end.',
          'Predugo vas nije bilo pa su se drugi pomaknuli naprijed. Možete ponovno stati na kraj reda.',
        ),
      },
      ended_earlier: {
        title: t('Your turn has ended', 'Vaš red je prošao'),
        text: t(
          'Your place in line or your turn has run out. You can join again at the end.',
          'Vaše mjesto u redu ili vrijeme za kupnju je isteklo. Možete ponovno stati na kraj reda.',
        ),
      },
      left: t(
        { title: 'You have left the line', text: 'Your place was given up. You can join again at the end.' },
        { title: 'Napustili ste red', text: 'Odustali ste od svojega mjesta. Možete ponovno stati na kraj reda.' },
      ),
      replaced: {
        title: t('Continued on another device', 'Nastavljeno na drugom uređaju'),
        text: t(
          'You opened the line on too many devices. Your place is safe there.',
          'Otvorili ste red na previše uređaja. Ondje je vaše mjesto sigurno.',
        ),
      },
      refused: {
        title: t('The connection was refused', 'Veza je odbijena'),
        text: t(
          'The waiting room does not take this connection. Joining again usually helps; your place is kept.',
          'Čekaonica ne prihvaća ovu vezu. Obično pomaže ponovno stati u red; mjesto vam se čuva.',
        ),
      },
    } satisfies Record<LineEndReason, { title: string; text: string }>,
  },
  turn: {
    title: t('It is your turn', 'Na redu ste'),
    timeLeft: t('Time to buy', 'Vrijeme za kupnju'),
    leave: {
      label: t('End my turn', 'Završi kupnju'),
      question: t(
        'End your turn? To buy more you would have to wait again.',
        'Završiti kupnju? Za nove ulaznice trebali biste ponovno čekati.',
      ),
      yes: t('Yes, leave', 'Da, napusti'),
      no: t('Stay', 'Ostani'),
    },
    announceLeft: (count: number) => t(`${minutes(count)} left.`, `Preostalo: ${minutesInCroatian(count)}.`),
  },
});
