-- report-sold-out: the monolith says what is left. Nothing left closes the line; open windows go on until used or over.
--
-- Guarantee: after the answer nobody is admitted any more, and every waiting fan hears queue_closed. If something is left it is kept
-- and told with the next position_update, and at once when the set of sectors has changed. Numbers alone are not told at once: they
-- change every second of a busy sale, and every update goes to the whole line. A report older than the one before is ignored.
-- Safe to repeat. O(sectors).
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 JSON list of the remaining sectors, '' when there is none
--       5 as_of: an integer that only grows, '' when the caller names none
-- Returns 'done', also for a match without a queue, or 'draining': drain-closed first, then call again.
if not stored_status() then return 'done' end
local as_of = tonumber(ARGV[5])
if as_of and as_of < (tonumber(redis.call('HGET', meta, 'remaining_as_of')) or 0) then return 'done' end
if ARGV[4] == '' then
  local was_closed = stored_status() == 'closed'
  if close_queue('sold_out') == 'draining' then return 'draining' end
  if as_of then redis.call('HSET', meta, 'remaining_as_of', digits(as_of)) end
  note_action('{"sold_out":true}', not was_closed)
  return 'done'
end
if as_of then redis.call('HSET', meta, 'remaining_as_of', digits(as_of)) end

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
