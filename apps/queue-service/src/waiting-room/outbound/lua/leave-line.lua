-- leave-line: gives up a fan's place or open window, on all devices.
--
-- Guarantee: afterwards the fan is nowhere; everybody behind has moved up, an ended window is announced and its slot free.
-- Joining again goes to the end, receipt or not. Safe to repeat. O(log line).
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 user_id
-- Returns 1 if there was something to give up, 0 or 'unknown' if not, 'state_needed' if nobody can say yet: call again.
local user = ARGV[4]

if not status_now() then return why_unknown() end
finish_closing(user)
local score = take_out(user)
if score then
  count_line()
  tell_moves('gone', { score })
  end_entry(user, 'left')
  tell_pods_of_fan(user)
end
local left_window = end_window(user, find_entry(user) == 'window_over' and 'window_timeout' or 'left')
redis.call('DEL', ended_key(user))
return (score or left_window) and 1 or 0
