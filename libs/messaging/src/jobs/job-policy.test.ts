import { notificationJobOptions, retryDelayMs } from './job-policy.ts';

test.each([
  { setting: [30, 300], sendsMade: 1, delay: 30_000 },
  { setting: [30, 300], sendsMade: 2, delay: 300_000 },
  { setting: [30, 300], sendsMade: 3, delay: -1 },
  { setting: [0, 1], sendsMade: 1, delay: 0 },
  { setting: [0, 1], sendsMade: 2, delay: 1000 },
])(
  'with retry delays of $setting s, after $sendsMade failed attempts the next attempt waits $delay ms (-1: no further attempt)',
  ({ setting, sendsMade, delay }) => {
    expect(retryDelayMs(setting, sendsMade)).toBe(delay);
  },
);

test('the job of a mail or push has the id of its message and three attempts, and is kept for one hour when done, thirty days when failed', () => {
  expect(notificationJobOptions('01997d2e-0000-7000-8000-000000000001')).toEqual({
    jobId: '01997d2e-0000-7000-8000-000000000001',
    attempts: 3,
    backoff: { type: 'custom' },
    removeOnComplete: { age: 3600 },
    removeOnFail: { age: 2_592_000 },
  });
});
