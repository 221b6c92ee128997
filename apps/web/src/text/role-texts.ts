import type { OpsAccess } from '#contracts/roles';
import type { Translate } from './texts.ts';

/** The texts about the roles of operators. */
export function roleTexts(t: Translate) {
  return {
    /** What an operator cannot do without a role. */
    work: {
      sale: t('Changing the sale and the line', 'Mijenjanje prodaje i reda'),
      money: t('Refunds and cancelling a match', 'Povrat novca i otkazivanje utakmice'),
      lists: t('Changing the blacklist', 'Mijenjanje crne liste'),
      jobs: t('Retrying and dropping jobs', 'Ponovno pokretanje i odbacivanje poslova'),
      quotas: t('Changing quotas and moving places', 'Mijenjanje kvota i premještanje mjesta'),
      policy: t('Checking the rules of a competition', 'Provjera pravila natjecanja'),
      audit: t('The audit log', 'Dnevnik radnji'),
      webhooks: t('The webhooks of partners', 'Webhookovi partnera'),
    },
    needed: (work: string, roles: string, own: string) =>
      t(
        `${work} needs one of these roles: ${roles}. You have: ${own}.`,
        `${work} traži jednu od uloga: ${roles}. Vi imate: ${own}.`,
      ),
    none: t('none', 'nijednu'),
    choice: {
      title: t('Demo: your roles', 'Demo: vaše uloge'),
      intro: t(
        'Without a sign-in this page takes the roles from here. Only the parts that they allow are shown.',
        'Bez prijave ova stranica uzima uloge odavde. Prikazuje se samo ono što one dopuštaju.',
      ),
      roles: {
        ops: t('everything, also the audit log', 'sve, i dnevnik radnji'),
        'ops:read': t('read only', 'samo čitanje'),
        'ops:sale': t('sales, quotas, jobs', 'prodaja, kvote, poslovi'),
        'ops:money': t('refunds, cancelling, exports', 'povrat novca, otkazivanje, izvozi'),
        'ops:lists': t('blacklist', 'crna lista'),
      } satisfies Record<OpsAccess, string>,
      use: t('Use these roles', 'Koristi ove uloge'),
    },
  };
}
