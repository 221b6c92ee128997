import type { QuotaKind } from '#contracts/quota-kinds';
import type { Quota, QuotaMove } from '#contracts/quotas';
import { opsQuotaFormTexts } from './ops-quota-form-texts.ts';
import { plural } from './plural.ts';
import type { Translate } from './texts.ts';

const placesEn = (count: number, shown: string) => plural('en', count, { one: `${shown} place`, other: `${shown} places` });
const placesHr = (count: number, shown: string) => plural('hr', count, { one: `${shown} mjesto`, other: `${shown} mjesta` });
const quotasEn = (count: number) => plural('en', count, { one: 'quota', other: 'quotas' });
const quotasHr = (count: number) => plural('hr', count, { one: 'kvota', few: 'kvote', other: 'kvota' });
const rulesEn = (count: number) => plural('en', count, { one: 'rule is', other: 'rules are' });
const rulesHr = (count: number) => plural('hr', count, { one: 'pravilo', few: 'pravila', other: 'pravila' });

/** The texts of the operators' page of quotas. `shown` is a number as the language writes it. */
export function opsQuotasTexts(t: Translate) {
  const cancel = t('Cancel', 'Odustani');
  const places = (count: number, shown: string) => t(placesEn(count, shown), placesHr(count, shown));
  return {
    ...opsQuotaFormTexts(t),
    link: t('Quotas of this match', 'Kvote ove utakmice'),
    title: t('Quotas', 'Kvote'),
    of: (match: string) => t(`Quotas: ${match}`, `Kvote: ${match}`),
    back: t('Back to the control room', 'Natrag na upravljanje prodajom'),
    intro: t(
      'A quota is a set of places that is kept for an owner. Each place belongs to one quota or to the public.',
      'Kvota je skup mjesta sačuvan za nekoga. Svako mjesto pripada jednoj kvoti ili javnosti.',
    ),
    places,
    kinds: {
      club: t('Club', 'Klub'),
      fan_group: t('Fan group', 'Navijačka skupina'),
      visitors: t('Visitors', 'Gosti'),
      sponsor: t('Sponsor', 'Sponzor'),
      media: t('Media', 'Mediji'),
      federation: t('Federation', 'Savez'),
      buffer: t('Buffer, stays empty', 'Tampon, ostaje prazan'),
    } satisfies Record<QuotaKind, string>,
    states: {
      free: t('free', 'slobodno'),
      invited: t('invited', 'pozvano'),
      held: t('on hold', 'rezervirano'),
      sold: t('sold', 'prodano'),
    },
    status: {
      open: t('Open', 'Otvorena'),
      returned: t('Returned', 'Vraćena'),
    } satisfies Record<Quota['status'], string>,
    public: t('Public', 'Javnost'),
    unknownQuota: t('a quota', 'kvota'),
    summary: {
      link: (count: number, total: string) => t(`${count} ${quotasEn(count)}, ${total}`, `${count} ${quotasHr(count)}, ${total}`),
      none: t('No places are set aside.', 'Nijedno mjesto nije izdvojeno.'),
    },
    overview: {
      title: t('All places of the match', 'Sva mjesta utakmice'),
      refreshed: t('refreshed every 5 seconds', 'osvježava se svakih 5 sekundi'),
      capacity: t('Capacity', 'Kapacitet'),
      inQuotas: t('In quotas', 'U kvotama'),
      given: t('Returned', 'Vraćeno'),
      legend: t('What the bars show', 'Što pokazuju trake'),
      publicPart: t('For the public', 'Za javnost'),
    },
    tree: {
      title: t('Quotas of the match', 'Kvote utakmice'),
      none: t('There are no quotas yet. All places are for the public.', 'Još nema kvota. Sva su mjesta za javnost.'),
      subtree: t('with all parts', 'sa svim dijelovima'),
      parts: (name: string) => t(`Parts of ${name}`, `Dijelovi kvote ${name}`),
      returns: (at: string) => t(`returns on ${at}`, `vraća se ${at}`),
      returned: (at: string) => t(`returned on ${at}`, `vraćena ${at}`),
      keeps: t('never returns', 'ne vraća se'),
    },
    facts: {
      opensAt: t('Invitations open', 'Pozivi vrijede od'),
      claimUntil: t('Invitations end', 'Pozivi vrijede do'),
      returnAt: t('Return of free places', 'Povrat slobodnih mjesta'),
      onReturn: t('They go to', 'Mjesta dobiva'),
      contact: t('Contact', 'Kontakt'),
      neverTo: t('Never moved to', 'Nikad ne ide za'),
      prices: t('Prices', 'Cijene'),
      maxPerInvitation: t('Places per invitation, at most', 'Najviše mjesta po pozivu'),
      members: t('Members (accounts)', 'Članovi (računi)'),
      sectors: t('Sectors', 'Sektori'),
      atOnce: t('at once', 'odmah'),
      noEnd: t('no end of their own', 'bez vlastitog kraja'),
      never: t('never', 'nikad'),
      nobody: t('nobody', 'nitko'),
      ordinary: t('as in the public sale', 'kao u javnoj prodaji'),
      ofSector: (sector: string, total: string, free: string) =>
        t(`${sector}: ${total}, ${free} free`, `${sector}: ${total}, slobodno ${free}`),
    },
    pending: {
      title: t('Waiting for a second operator', 'Čeka drugog operatera'),
      none: t('No move waits.', 'Nijedan premještaj ne čeka.'),
      rule: t('Rule:', 'Pravilo:'),
      reason: t('Reason:', 'Razlog:'),
      askedBy: (who: string, at: string) => t(`Asked for by ${who}, ${at}`, `Zahtjev: ${who}, ${at}`),
      ends: (at: string) => t(`ends on ${at}`, `istječe ${at}`),
      own: t(
        'You asked for this move. Another operator must decide.',
        'Vi ste zatražili ovaj premještaj. Odlučuje drugi operater.',
      ),
      approve: {
        label: t('Approve', 'Odobri'),
        question: t('Approve this move against the rule?', 'Odobriti ovaj premještaj unatoč pravilu?'),
        yes: t('Yes, approve', 'Da, odobri'),
        no: cancel,
      },
      reject: {
        label: t('Reject', 'Odbij'),
        question: t('Reject this move? Its places stay where they are.', 'Odbiti premještaj? Mjesta ostaju gdje jesu.'),
        yes: t('Yes, reject', 'Da, odbij'),
        no: cancel,
      },
      approved: t('The move was approved.', 'Premještaj je odobren.'),
      rejected: t('The move was rejected.', 'Premještaj je odbijen.'),
    },
    ledger: {
      title: t('Ledger of moves', 'Knjiga premještaja'),
      intro: t(
        'Every move, the oldest first. Nothing here can be changed.',
        'Svi premještaji, najstariji prvi. Ovdje se ništa ne može promijeniti.',
      ),
      none: t('Nothing has moved yet.', 'Još ništa nije premješteno.'),
      shown: (count: string) => t(`${count} moves shown, there are more.`, `Prikazano premještaja: ${count}, ima ih još.`),
      more: t('Show later moves', 'Prikaži kasnije premještaje'),
      to: t('to', 'u'),
      kinds: {
        creation: t('New quota', 'Nova kvota'),
        move: t('Move', 'Premještaj'),
        return: t('Return', 'Povrat'),
      } satisfies Record<QuotaMove['kind'], string>,
      by: (who: string) => t(`by ${who}`, `izvršitelj: ${who}`),
      approvedBy: (who: string) => t(`approved by ${who}`, `odobrenje: ${who}`),
      system: t('the system', 'sustav'),
    },
    policy: {
      title: t('Rules of a competition', 'Pravila natjecanja'),
      choose: t('Policy', 'Pravilnik'),
      none: t('Choose a policy', 'Odaberite pravilnik'),
      noPolicies: t('No policy is installed.', 'Nijedan pravilnik nije instaliran.'),
      again: t('Check again', 'Provjeri ponovno'),
      kept: t('All rules are kept.', 'Sva su pravila poštovana.'),
      broken: (count: number, all: number) =>
        t(`${count} of ${all} ${rulesEn(all)} broken.`, `Prekršeno ${count} od ${all} ${rulesHr(all)}.`),
      ok: t('Kept', 'Poštovano'),
      notOk: t('Broken', 'Prekršeno'),
      source: t('Source:', 'Izvor:'),
      wholeMatch: t('The match', 'Utakmica'),
    },
  };
}
