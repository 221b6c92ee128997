/**
 * SQL that adds this many rows to the audit log, one for each second of the past: 200 operators, one of whom did a fifth of everything, 25
 * actions, of which reads are most, 2,000 matches, and an object of its own for every second row.
 */
export const insertActs = (count: number): string => `
  insert into audit_log (id, at, actor, roles, action, target_type, target_id, match_id, before, after, request_id, address)
  select gen_random_uuid(), now() - make_interval(secs => n),
         '0190a000-0000-7000-8000-' || lpad((case when n % 5 = 0 then 0 else n % 200 end)::text, 12, '0'), '{ops:sale}',
         case when n % 3 > 0 then 'listJobs' else 'action' || chr(97 + (n / 3 % 24)::int) end,
         'order', case when n % 2 = 0 then md5(n::text)::uuid::text end,
         case when n % 3 = 0 then ('0190a000-0000-7000-9000-' || lpad((n % 2000)::text, 12, '0'))::uuid end,
         '{"status": "open"}', '{"status": "paused"}', 'r-' || n, '127.0.0.1'
  from generate_series(1, ${count}) as n`;
