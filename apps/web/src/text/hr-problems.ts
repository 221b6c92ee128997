import type { ProblemMembers } from '#contracts/problems';
import type { ProblemCode } from '../api/problem.ts';
import type { ProblemText } from './en-problems.ts';
import { plural } from './plural.ts';

const otherSectors = ({ other_sectors }: ProblemMembers) => (other_sectors ? ' U drugim sektorima još ih ima.' : '');
const ours = () => 'Stranica je pogriješila. Osvježite je i pokušajte ponovno.';

/** The Croatian text of each error code. */
export const problemTexts: Record<ProblemCode, ProblemText> = {
  VALIDATION_FAILED: () => 'Nešto u obrascu nije u redu. Provjerite što ste upisali.',
  IDEMPOTENCY_KEY_REQUIRED: ours,
  IDEMPOTENCY_KEY_INVALID: ours,
  IDEMPOTENCY_KEY_IN_USE: () => 'Vaš se zahtjev još obrađuje. Pričekajte trenutak i pokušajte ponovno; vrijedit će jednom.',
  IDEMPOTENCY_KEY_REUSED: ours,
  UNAUTHENTICATED: () => 'Niste prijavljeni.',
  FORBIDDEN: () => 'Za to nemate ovlasti.',
  BLACKLISTED: () => 'Za ovu utakmicu ne možete kupiti ulaznice. Obratite se organizatoru.',
  PURCHASE_WINDOW_REQUIRED: () => 'Prije odabira mjesta morate doći na red u čekaonici.',
  PURCHASE_WINDOW_EXPIRED: () => 'Vaše je vrijeme za kupnju isteklo. Ponovno stanite u red.',
  NOT_FOUND: () => 'Ovo ne postoji ili nije vaše.',
  SEATS_UNAVAILABLE: ({ members }) => {
    if (members.available === undefined) return 'Netko je bio brži: ta su mjesta otišla. Odaberite druga.';
    const free = plural('hr', members.available, {
      one: `Ovdje je još slobodno ${members.available} mjesto.`,
      few: `Ovdje su još slobodna ${members.available} mjesta.`,
      other: `Ovdje je još slobodno ${members.available} mjesta.`,
    });
    return `Netko je bio brži. ${free}${otherSectors(members)}`;
  },
  SEATS_BUSY: () => 'Netko drugi upravo uzima ta mjesta. Pokušajte ponovno.',
  ALL_SEATS_HELD: ({ members }, format) =>
    `Sva su mjesta ovdje trenutačno rezervirana za druge.${members.next_expiry_at ? ` Prva se mogu osloboditi u ${format.clock(members.next_expiry_at)}.` : ' Neka se mogu osloboditi.'}${otherSectors(members)}`,
  SOLD_OUT: ({ members }) => `Ovdje je rasprodano.${otherSectors(members)}`,
  TICKET_LIMIT_REACHED: ({ members }) =>
    members.rest
      ? `Najveći broj ulaznica po navijaču je ${members.limit ?? ''}. Možete uzeti još ${members.rest}.`
      : `Najveći broj ulaznica po navijaču je ${members.limit ?? ''} i već ste ga dosegnuli.`,
  HOLD_COOLDOWN: ({ members }, format) =>
    `Nekoliko vam je rezervacija za ovu utakmicu isteklo ili ste ih vratili. ${members.until ? `Mjesta ponovno možete uzeti u ${format.clock(members.until)}.` : 'Mjesta ponovno možete uzeti za nekoliko minuta.'}`,
  TRANSFERS_LOCKED: () => 'Organizator sada ne dopušta prijenos ulaznica za ovu utakmicu.',
  PAYMENT_REFUSED: () =>
    'Pružatelj usluge plaćanja ne prihvaća ovo plaćanje. Ništa nije naplaćeno i mjesta su i dalje rezervirana za vas. Pokušajte ponovno ili odaberite druga mjesta.',
  RESERVATION_EXPIRED: () => 'Rezervacija je istekla i mjesta su opet slobodna. Ništa nije naplaćeno.',
  SALE_NOT_OPEN: ({ members }, format) =>
    members.opens_at ? `Prodaja počinje: ${format.dateTime(members.opens_at)}.` : 'Ulaznice trenutačno nisu u prodaji.',
  QUEUE_CLOSED: ({ members }) => (members.reason === 'sold_out' ? 'Rasprodano: red je zatvoren.' : 'Red je zatvoren.'),
  INVALID_STATE: ({ members }) =>
    members.order_id
      ? 'Jedna vaša narudžba čeka plaćanje. Najprije završite ili otkažite nju.'
      : 'To više nije moguće. Stranica sada prikazuje stvarno stanje.',
  INVITATION_CLAIMED: () => 'Ovu je pozivnicu prihvatio netko drugi.',
  INVITATION_EXPIRED: ({ members }) =>
    members.invitation_status === 'withdrawn' ? 'Ova je pozivnica povučena.' : 'Vrijeme ove pozivnice je isteklo.',
  QUOTA_EXCEEDED: ({ members: { available = 0 } }) => `Premalo je slobodnih mjesta: ${available}. Ništa nije promijenjeno.`,
  MOVE_REFUSED: ({ members }) => `Pravilo to ne dopušta. ${members.rule ?? ''}`,
  PAYLOAD_TOO_LARGE: () => 'To je bilo previše odjednom.',
  UNSUPPORTED_MEDIA_TYPE: ours,
  RATE_LIMITED: ({ retryAfterSeconds }) =>
    retryAfterSeconds
      ? `Previše zahtjeva. Pokušajte ponovno za ${retryAfterSeconds} s.`
      : 'Previše zahtjeva. Pokušajte ponovno za trenutak.',
  LOCK_TIMEOUT: () => 'Vrlo mnogo navijača kupuje odjednom. Ništa nije promijenjeno; pokušajte ponovno.',
  OUTCOME_UNKNOWN: () => 'Ishod još nije poznat. Pokušajte ponovno: vrijedit će jednom, i ako pritisnete dvaput.',
  DEPENDENCY_UNAVAILABLE: () => 'Dio sustava trenutačno ne odgovara. Ništa nije promijenjeno; pokušajte uskoro.',
  UNREACHABLE: () => 'Nema veze. Provjerite mrežu i pokušajte ponovno; ništa se neće dogoditi dvaput.',
  UNKNOWN: () => 'Nešto je pošlo po krivu na našoj strani. Pokušajte ponovno za trenutak.',
};
