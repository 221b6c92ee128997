-- leave-line: gives up a fan's queue entry or open window, on all devices.
--
-- Guarantee: afterwards the fan has no entry and no window. Fans behind have moved up. The end of a window is published, and another
-- fan can be granted a turn. The fan can join again only at the end of the line, even with a receipt. Safe to repeat. O(log line).
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 user_id  5 'forget': the fan erases everything, so the last message for the
--       queue token is kept only as long as open sockets need to read it
-- Returns 1 if an entry or window was given up, 0 or 'unknown' if there was none, 'state_needed' if the state of the match is
-- missing: call again.
local user = ARGV[4]

local FORGET_S = 5

if not status_now() then return why_unknown() end
if ARGV[5] == 'forget' then persistence_s = FORGET_S end
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
