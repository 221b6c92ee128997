-- read-queue: the queue as a whole.
--
-- Guarantee: reads only (but opens a scheduled queue whose time has come).
--
-- KEYS  1 line  2 meta  3 windows  4 window_ends  5 events  6 closing_line  7 closing_windows  8 closing_window_ends
-- ARGV  1 match_id  2 persistence_s
-- Returns { 'unknown' } or { 'found', queue }.
if not status_now() then return { 'unknown' } end
return { 'found', describe_queue() }
