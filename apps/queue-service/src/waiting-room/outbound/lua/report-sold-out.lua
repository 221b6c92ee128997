-- report-sold-out: stores the remaining sectors that the monolith reports. An empty list closes the line; open windows stay until
-- they are used or expire.
--
-- Guarantee: after an empty list no turn is granted, and every waiting fan gets queue_closed. Remaining sectors are sent with the
-- next position_update, and at once when the set of sectors has changed. Changed numbers alone are not sent at once: they change
-- every second in a busy sale, and each update goes to the whole line. A report older than the last one is ignored. Safe to
-- repeat. O(sectors).
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 JSON list of the remaining sectors, '' when it is empty
--       5 as_of: an integer that only grows, '' when the caller sends none
-- Returns 'done', also for a match without a queue, or 'draining': run drain-closed first, then call again.
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

local function sector_ids(text)
  local ids = {}
  for _, sector in ipairs(text and cjson.decode(text) or {}) do ids[#ids + 1] = sector.sector_id end
  table.sort(ids)
  return table.concat(ids, ' ')
end
local before = redis.call('HGET', meta, 'remaining_sectors')
redis.call('HSET', meta, 'remaining_sectors', ARGV[4])
if sector_ids(before) ~= sector_ids(ARGV[4]) then tell_queue_changed() end
return 'done'
