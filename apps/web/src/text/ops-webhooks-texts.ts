import type { WebhookEventType } from '#contracts/webhook-events';
import type { Translate } from './texts.ts';

/** The texts of the page with the webhooks of partners. */
export function opsWebhooksTexts(t: Translate) {
  return {
    link: t('Webhooks of partners', 'Webhookovi partnera'),
    back: t('Control room', 'Upravljanje prodajom'),
    title: t('Webhooks of partners', 'Webhookovi partnera'),
    intro: t(
      'Each address here is told of events in the moment they happen. What is not accepted is sent again for 24 hours.',
      'Svaka adresa ovdje doznaje za događaje čim se dogode. Što nije prihvaćeno šalje se ponovno 24 sata.',
    ),
    none: t('No partner is told of events.', 'Nijedan partner ne dobiva događaje.'),
    form: {
      title: t('Add a webhook', 'Dodaj webhook'),
      url: t('Address (https)', 'Adresa (https)'),
      urlMissing: t('Enter an address.', 'Upišite adresu.'),
      events: t('Events', 'Događaji'),
      eventsMissing: t('Choose at least one event.', 'Odaberite barem jedan događaj.'),
      add: t('Add', 'Dodaj'),
      secret: t(
        'Added. Give the partner this secret, which signs the events. It is shown only now:',
        'Dodano. Predajte partneru ovu tajnu kojom se potpisuju događaji. Prikazuje se samo sada:',
      ),
    },
    events: {
      'order.completed': t('order paid', 'narudžba plaćena'),
      'order.refunded': t('order refunded', 'novac vraćen'),
      'ticket.transferred': t('ticket transferred', 'ulaznica prenesena'),
      'match.cancelled': t('match cancelled', 'utakmica otkazana'),
      'quota.returned': t('quota returned', 'kvota vraćena'),
    } satisfies Record<WebhookEventType, string>,
    since: (time: string) => t(`since ${time}`, `od ${time}`),
    counts: (pending: number, failed: number) =>
      t(`waiting: ${pending}, failed: ${failed}`, `na čekanju: ${pending}, neuspjelo: ${failed}`),
    deliveries: t('Deliveries', 'Isporuke'),
    noDeliveries: t('Nothing was sent yet.', 'Još ništa nije poslano.'),
    more: t('Show older deliveries', 'Prikaži starije isporuke'),
    states: {
      pending: t('Waiting', 'Na čekanju'),
      delivered: t('Delivered', 'Isporučeno'),
      failed: t('Failed', 'Neuspjelo'),
    },
    attempts: (count: number) => t(`attempts: ${count}`, `pokušaja: ${count}`),
    body: t('What is sent', 'Što se šalje'),
    sendAgain: t('Send again', 'Pošalji ponovno'),
    remove: {
      label: t('Remove', 'Ukloni'),
      question: t('Tell this partner of no more events?', 'Više ne slati događaje ovom partneru?'),
      yes: t('Yes, remove', 'Da, ukloni'),
      no: t('No', 'Ne'),
    },
  };
}
