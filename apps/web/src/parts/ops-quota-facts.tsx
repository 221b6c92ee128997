import type { Match } from '#contracts/matches';
import type { Quota } from '#contracts/quotas';
import type { Sector } from '#contracts/sectors';
import type { ReactNode } from 'react';
import { useStaffLanguage } from '../text/staff-language.ts';

interface OpsQuotaFactsProps {
  quota: Quota;
  match: Match;
  sectors: readonly Sector[];
}

/** The settings of a quota and its places by sector. */
export function OpsQuotaFacts({ quota, match, sectors }: OpsQuotaFactsProps) {
  const { texts, format } = useStaffLanguage();
  const { facts, kinds, onReturn, places } = texts.opsQuotas;
  const time = (iso: string | null, without: string) => (iso ? format.dateTime(iso) : without);
  const nameOf = (id: string) => sectors.find((sector) => sector.id === id)?.name ?? id;
  const rows: [name: string, value: ReactNode][] = [
    [facts.opensAt, time(quota.opens_at, facts.atOnce)],
    [facts.claimUntil, time(quota.claim_until, facts.noEnd)],
    [facts.returnAt, time(quota.return_at, facts.never)],
    ...(quota.return_at ? [[facts.onReturn, onReturn[quota.on_return]] as [string, string]] : []),
    [facts.contact, quota.contact_email ?? facts.nobody],
    [facts.neverTo, quota.never_to.map((kind) => kinds[kind]).join(', ') || facts.nobody],
    [facts.maxPerInvitation, format.number(quota.max_per_invitation)],
    [facts.prices, <PriceList key="prices" quota={quota} nameOf={nameOf} currency={match.currency} />],
    [facts.members, quota.members.length === 0 ? facts.nobody : <Codes key="members" texts={quota.members} />],
    [
      facts.sectors,
      <ul key="sectors">
        {quota.by_sector.map(({ sector_id: id, total, free }) => (
          <li key={id}>{facts.ofSector(nameOf(id), places(total, format.number(total)), format.number(free))}</li>
        ))}
      </ul>,
    ],
  ];
  return (
    <dl className="quota-facts" data-testid="quota-facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const Codes = ({ texts }: { texts: readonly string[] }) => (
  <ul>
    {texts.map((text) => (
      <li key={text}>
        <code>{text}</code>
      </li>
    ))}
  </ul>
);

interface PriceListProps {
  quota: Quota;
  nameOf: (sectorId: string) => string;
  currency: string;
}

/** The prices in the sectors where the quota has places; one line if all are the same. */
function PriceList({ quota, nameOf, currency }: PriceListProps) {
  const { texts, format } = useStaffLanguage();
  const prices = quota.by_sector.map(({ sector_id: id }) => ({ id, cents: quota.price_cents[id] }));
  const shown = (cents: number | undefined) =>
    cents === undefined ? texts.opsQuotas.facts.ordinary : format.money(cents, currency);
  if (new Set(prices.map(({ cents }) => cents)).size <= 1) return shown(prices[0]?.cents);
  return (
    <ul>
      {prices.map(({ id, cents }) => (
        <li key={id}>
          {nameOf(id)}: {shown(cents)}
        </li>
      ))}
    </ul>
  );
}
