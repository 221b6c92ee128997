-- report-sold-out: the monolith says what is left. Nothing left closes the line; open windows go on until used or over.
--
-- Guarantee: after the answer nobody is admitted any more, and every waiting fan hears queue_closed. Something left is kept
-- and told with the next position_update; at once when a sector is gone or back, not when only numbers moved: they do every
-- second of a busy sale, and every update goes to the whole line. Safe to repeat. O(sectors).
--
-- KEYS  the 18 keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 JSON list of the remaining sectors, '' when there is none
-- Returns 'done', also for a match without a queue, or 'draining': drain-closed first, then call again.
if not status_now() then return 'done' end
if ARGV[4] == '' then
  local was_closed = status_now() == 'closed'
  if close_queue('sold_out') == 'draining' then return 'draining' end
  note_action('{"sold_out":true}', not was_closed)
  return 'done'
end
local function names_in(text)
  local names = {}
  for _, sector in ipairs(text and cjson.decode(text) or {}) do names[#names + 1] = sector.sector_id end
  table.sort(names)
  return table.concat(names, ' ')
end
local before = redis.call('HGET', meta, 'remaining_sectors')
redis.call('HSET', meta, 'remaining_sectors', ARGV[4])
if names_in(before) ~= names_in(ARGV[4]) then tell_queue_changed() end
return 'done'
