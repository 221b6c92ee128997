-- report-sold-out: the monolith says what is left. Nothing left closes the line; open windows go on until used or over.
--
-- Guarantee: after the answer nobody is admitted any more, and every waiting fan hears queue_closed. Something left is kept
-- and told with the next position_update. Safe to repeat. O(1).
--
-- KEYS  1 line  2 meta  3 windows  4 window_ends  5 events  6 closing_line  7 closing_windows  8 closing_window_ends
-- ARGV  1 match_id  2 persistence_s  3 JSON list of the remaining sectors, '' when there is none
-- Returns 'done', also for a match without a queue, or 'draining': drain-closed first, then call again.
if not status_now() then return 'done' end
if ARGV[3] == '' then
  return close_queue('sold_out') == 'draining' and 'draining' or 'done'
end
redis.call('HSET', meta, 'remaining_sectors', ARGV[3])
tell_queue_changed()
return 'done'
