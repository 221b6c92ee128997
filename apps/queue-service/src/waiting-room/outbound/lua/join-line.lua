-- join-line: puts a fan at the end of the line, or finds the place the fan already has.
--
-- Guarantee: strictly first come, first served by Redis' clock. The score is the time in µs, raised by one where two joins
-- share a microsecond or the clock went back, so no two fans tie and no pod's clock matters. Joining again, from any
-- device, changes nothing about the place. Safe to repeat. O(log line).
--
-- KEYS  1 line  2 meta  3 windows  4 window_ends  5 events  6 closing_line  7 closing_windows  8 closing_window_ends
-- ARGV  1 match_id  2 persistence_s  3 user_id  4 token to use for a new place
-- Returns { outcome, place? }: 'created' | 'kept' with the place; 'unknown'; 'scheduled' | 'closed' with { opens_at, reason }.
local user, new_token = ARGV[3], ARGV[4]

local status = status_now()
if not status then return { 'unknown' } end

local kind, detail = find_place(user)
if kind == 'waiting' or kind == 'granted' then
  return { 'kept', describe_place(user, kind, detail, renew_session(user, kind, detail, new_token)) }
end
if status == 'scheduled' or status == 'closed' then
  return { status, redis.call('HMGET', meta, 'opens_at', 'closed_reason') }
end

-- What was before has ended for good, also where nobody had come by yet to say so.
if kind == 'window_over' then end_window(user, 'window_timeout') end
if kind ~= 'none' then
  finish_closing(user)
  redis.call('DEL', ended_key(user))
end

local score = math.max(now_us, (tonumber(redis.call('HGET', meta, 'last_score')) or 0) + 1)
redis.call('ZADD', line, digits(score), user)
-- Nobody has a higher score, so the last place is the fan's.
local position = redis.call('ZCARD', line)
redis.call('HSET', meta, 'last_score', digits(score), 'total_size', position)
local session = new_session(user, position, new_token, digits(score), persistence_s)
return { 'created', describe_place(user, 'waiting', digits(score), session, position) }
