-- leave-line: gives up a fan's place or open window, on all devices.
--
-- Guarantee: afterwards the fan is nowhere; everybody behind has moved up, an ended window is announced and its slot free.
-- Joining again goes to the end. Safe to repeat. O(log line).
--
-- KEYS  1 line  2 meta  3 windows  4 window_ends  5 events  6 closing_line  7 closing_windows  8 closing_window_ends
-- ARGV  1 match_id  2 persistence_s  3 user_id
-- Returns 1 if there was something to give up, else 0.
local user = ARGV[3]

if not status_now() then return 0 end
finish_closing(user)
local left_line = redis.call('ZREM', line, user) == 1
if left_line then
  count_line()
  end_place(user, 'left')
  tell_pods_of_fan(user)
end
local left_window = end_window(user, find_place(user) == 'window_over' and 'window_timeout' or 'left')
redis.call('DEL', ended_key(user))
return (left_line or left_window) and 1 or 0
