import { isReminderDue, matchChanged } from './holder-notice.ts';

const match = { id: 'm', kickoffAt: new Date('2026-12-12T19:45:00Z'), venue: 'Maksimir', cancelledAt: null };

test.each([
  ['nothing', match, 0],
  ['the time zone of the same kickoff', { ...match, kickoffAt: new Date('2026-12-12T20:45:00+01:00') }, 0],
  ['the kickoff', { ...match, kickoffAt: new Date('2026-12-13T19:45:00Z') }, 1],
  ['the venue', { ...match, venue: 'Poljud' }, 1],
])('matchChanged: a change of %s (to %j) makes %i job(s) that inform ticket holders', (_what, after, jobs) => {
  expect(matchChanged(match, after)).toHaveLength(jobs);
});

test('matchChanged: the job contains the previous kickoff and venue', () => {
  expect(matchChanged(match, { ...match, venue: 'Poljud' })).toEqual([
    {
      class: 'announce_match_change',
      matchId: 'm',
      previousKickoffAt: '2026-12-12T19:45:00.000Z',
      previousVenue: 'Maksimir',
      afterUserId: null,
    },
  ]);
});

test('matchChanged: a cancellation makes one job, and a change of an already cancelled match makes none', () => {
  const cancelled = { ...match, cancelledAt: new Date('2026-12-01T10:00:00Z') };
  expect(matchChanged(match, { ...cancelled, venue: 'Poljud' })).toEqual([
    { class: 'announce_cancellation', matchId: 'm', afterUserId: null },
  ]);
  expect(matchChanged(cancelled, { ...cancelled, venue: 'Poljud' })).toEqual([]);
});

test.each([
  ['2026-12-11T19:44:59Z', false],
  ['2026-12-11T19:45:00Z', true],
  ['2026-12-12T19:44:59Z', true],
  ['2026-12-12T19:45:00Z', false],
])('isReminderDue: at %s, for a kickoff at 2026-12-12T19:45:00Z, a reminder is due = %s', (now, due) => {
  expect(isReminderDue(match.kickoffAt, new Date(now))).toBe(due);
});
