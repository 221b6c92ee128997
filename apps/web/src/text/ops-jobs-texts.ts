import type { JobState, QueueName } from '#contracts/jobs';
import { plural } from './plural.ts';
import type { Translate } from './texts.ts';

const jobsEn = (count: number) => plural('en', count, { one: 'job', other: 'jobs' });
const jobsHr = (count: number) => plural('hr', count, { one: 'posao', few: 'posla', other: 'poslova' });
const failedJobsHr = (count: number) =>
  plural('hr', count, { one: 'neuspjeli posao', few: 'neuspjela posla', other: 'neuspjelih poslova' });

/** The texts of the operators' page of jobs. */
export function opsJobsTexts(t: Translate) {
  const cancel = t('Cancel', 'Odustani');
  return {
    link: t('Mails, pushes and background jobs', 'E-pošta, obavijesti i pozadinski poslovi'),
    title: t('Jobs', 'Poslovi'),
    intro: t(
      'Mails, pushes and background jobs, and messages that could not be delivered. Names, codes and tokens are hidden.',
      'E-pošta, push obavijesti i pozadinski poslovi te poruke koje se nisu mogle isporučiti. Imena, kodovi i tokeni skriveni su.',
    ),
    back: t('Back to the control room', 'Natrag na upravljanje prodajom'),
    queue: t('Queue', 'Red'),
    state: t('State', 'Stanje'),
    template: t('Template or kind of job', 'Predložak ili vrsta posla'),
    templateFault: t('Only letters, digits, dots and hyphens.', 'Samo slova, znamenke, točke i crtice.'),
    search: t('Id, order, fan, e-mail or error', 'Oznaka, narudžba, navijač, e-pošta, greška'),
    allQueues: t('All queues', 'Svi redovi'),
    allStates: t('All states', 'Sva stanja'),
    queues: {
      email: t('E-mail', 'E-pošta'),
      push: t('Push', 'Push obavijesti'),
      'push-priority': t('Urgent push', 'Hitne push obavijesti'),
      jobs: t('Background jobs', 'Pozadinski poslovi'),
      outbox: t('Undelivered messages', 'Neisporučene poruke'),
    } satisfies Record<QueueName, string>,
    states: {
      waiting: t('Waiting', 'Čeka'),
      delayed: t('Delayed', 'Odgođeno'),
      active: t('Running', 'U tijeku'),
      completed: t('Done', 'Dovršeno'),
      failed: t('Failed', 'Neuspjelo'),
    } satisfies Record<JobState, string>,
    counts: {
      title: t('Now', 'Sada'),
      refreshed: t('refreshed every 5 seconds', 'osvježava se svakih 5 sekundi'),
      oldest: t('Oldest waits', 'Najdulje čeka'),
      seconds: (shown: string) => t(`${shown} s`, `${shown} s`),
      show: (count: string, state: string, queue: string) =>
        t(`${count}, show: ${queue}, ${state}`, `${count}, prikaži: ${queue}, ${state}`),
    },
    found: {
      title: t('List', 'Popis'),
      shown: (count: number, isMore: boolean) =>
        isMore
          ? t(`${count} ${jobsEn(count)} shown, there are more.`, `Prikazano: ${count} ${jobsHr(count)}, ima ih još.`)
          : t(`${count} ${jobsEn(count)} found.`, `Pronađeno: ${count} ${jobsHr(count)}.`),
      none: t('No job matches this filter.', 'Nijedan posao ne odgovara filtru.'),
      noneFailed: t('No job has failed.', 'Nema neuspjelih poslova.'),
      more: t('Show older jobs', 'Prikaži starije poslove'),
    },
    job: {
      id: t('Id', 'Oznaka'),
      created: t('Created', 'Nastalo'),
      transport: t('Stored in', 'Pohranjeno u'),
      attempts: t('Failed attempts', 'Neuspjeli pokušaji'),
      noAttempts: t('No attempt has failed.', 'Nijedan pokušaj nije propao.'),
      unknownTime: t('time unknown', 'vrijeme nepoznato'),
      payload: t('Content', 'Sadržaj'),
      interventions: t('What operators did', 'Što su organizatori učinili'),
      actions: {
        retry: (by: string, at: string) => t(`Retried by ${by}, ${at}`, `Ponovno pokrenuo ${by}, ${at}`),
        drop: (by: string, at: string) => t(`Dropped by ${by}, ${at}`, `Odbacio ${by}, ${at}`),
      },
    },
    retry: t('Retry', 'Pokreni ponovno'),
    retried: (template: string) => t(`${template} will be tried again.`, `${template}: pokušat će se ponovno.`),
    drop: {
      label: t('Drop', 'Odbaci'),
      question: t('Drop this job? It will never be done.', 'Odbaciti ovaj posao? Nikad se neće obaviti.'),
      yes: t('Yes, drop', 'Da, odbaci'),
      no: cancel,
    },
    dropped: (template: string) => t(`${template} was dropped.`, `${template}: odbačeno.`),
    retryAll: {
      label: t('Retry all failed jobs of this filter', 'Ponovno pokreni sve neuspjele poslove iz filtra'),
      question: (count: number) =>
        t(
          `Retry ${count} failed ${jobsEn(count)}? Each gets all its attempts again.`,
          `Ponovno pokrenuti ${count} ${failedJobsHr(count)}? Svaki dobiva sve pokušaje iznova.`,
        ),
      yes: t('Yes, retry', 'Da, pokreni'),
      no: cancel,
      nothing: t('No failed job matches this filter.', 'Nijedan neuspjeli posao ne odgovara filtru.'),
      done: (count: number) =>
        t(`${count} ${jobsEn(count)} will be tried again.`, `Ponovno pokrenuto: ${count} ${jobsHr(count)}.`),
    },
  };
}
