import { writePush, type PushContent } from './push-templates.ts';

const facts = { match_name: 'Dinamo - Hajduk', kickoff_at: '2026-12-12T19:45:00Z', venue: 'Stadion Maksimir' };
const samples: readonly PushContent[] = [
  { template: 'queue_your_turn' },
  { template: 'queue_front' },
  { template: 'queue_position', position: 100 },
  { template: 'ticket_delivery', match_name: facts.match_name, tickets_count: 2 },
  { template: 'quota_invitation', match_name: facts.match_name, tickets_count: 5 },
  { template: 'transfer_offer', match_name: facts.match_name },
  { template: 'match_reminder', ...facts },
  { template: 'match_changed', ...facts, change: 'moved' },
  { template: 'match_changed', match_name: facts.match_name, change: 'cancelled' },
];

describe.each(samples)('push $template', (content) => {
  test('the push is short enough for a lock screen in both languages, and the languages differ', () => {
    const [hr, en] = [writePush(content, 'hr'), writePush(content, 'en')];
    for (const { title, body } of [hr, en]) {
      expect(title + body).not.toMatch(/undefined|null|NaN|\[object/);
      expect([title.length > 5, title.length <= 60, body.length > 5, body.length <= 110]).toEqual([true, true, true, true]);
    }
    expect(hr.title).not.toBe(en.title);
  });

  test('writing the push throws if one of its variables is missing', () => {
    for (const missing of Object.keys(content).filter((name) => name !== 'template')) {
      const { [missing]: _left, ...rest } = content as unknown as Record<string, unknown>;
      expect(() => writePush(rest as never, 'hr')).toThrow();
    }
  });
});

test.each([
  ['hr', 'Još niste preuzeli ulaznice', 'Dinamo - Hajduk: 5 ulaznica. Poveznica je u e-poruci.'],
  ['en', 'You have not claimed your tickets yet', 'Dinamo - Hajduk: 5 tickets. The link is in your mail.'],
] as const)('push quota_invitation that reminds has in locale %s the title "%s"', (locale, title, body) => {
  const content = { template: 'quota_invitation', match_name: facts.match_name, tickets_count: 5, reminder: true } as const;
  expect(writePush(content, locale)).toEqual({ title, body });
});
