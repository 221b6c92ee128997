-- restore-queue: stores one part of the state of a match. The monolith sends this state after Redis has lost it, and before the first
-- call for a new match.
--
-- Guarantee: fans are served only after the last part has set the mark (parts/match-state.lua). The last part sets the mark only
-- if all earlier parts are still in Redis; after a loss in between the monolith starts again. Each open window is restored as it
-- was. Each queue entry that had its turn is used up, so no receipt restores it. A known state is never replaced by an older one.
-- Safe to repeat. O(windows + used entries of the part).
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 generation  5 number of the part, from 0  6 '1' for the last part, else ''
--       7 JSON: exists (false: the match has no waiting room), sale (parts/settings.lua), counts {granted, completed, expired},
--       windows [[user_id, session_token, expires_at_ms, score of the entry or null]…], used [[user_id, score]…]
-- Returns 'done'; 'draining': nothing was changed, run drain-closed first, then call again; 'out_of_step': start again with part 0.
local HSET_CHUNK = 1000
local sent_generation, part, is_last = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6] == '1'
local sent = cjson.decode(ARGV[7])

if sent.exists == false then
  if mark and mark ~= 'asked' and mark ~= 'no_queue' then return 'done' end
  redis.call('SET', restored, 'no_queue', 'EX', 60)
  publish_queue_changed()
  return 'done'
end
if generation and sent_generation <= generation then return 'done' end

local this_restore = 'restoring ' .. digits(sent_generation) .. ' '
if part == 0 then
  -- Redis may hold the queue of an older generation, after a failover to a replica that was behind. It is changed like any queue.
  if sent.sale and change_settings(sent.sale) == 'draining' then return 'draining' end
  redis.call('UNLINK', windows, window_ends, used)
  -- A line that has granted turns was opened earlier: fans who join again after a loss of Redis are not an opening.
  if sent.counts and sent.counts.granted > 0 then redis.call('HDEL', meta, 'opened_at') end
  if sent.counts then
    redis.call('HSET', meta, 'granted', sent.counts.granted, 'completed', sent.counts.completed, 'expired', sent.counts.expired)
    -- Turns were granted before, so the first bucket is spent. Otherwise every loss of Redis would admit one more bucket of fans.
    if sent.counts.granted > 0 then keep_tokens(0) end
  end
elseif mark ~= this_restore .. part then
  return 'out_of_step'
end

local taken_out = {}
for _, window in ipairs(sent.windows or {}) do
  local user, session_token, ends_at, score = window[1], window[2], window[3], window[4]
  if score == cjson.null then score = ends_at * 1000 end
  if redis.call('ZSCORE', line, user) then taken_out[#taken_out + 1] = take_out(user) end
  redis.call('HSET', windows, user, '{"expires_at":"' .. rfc3339(ends_at) .. '","session_token":"' .. session_token
    .. '","generation":' .. digits(sent_generation) .. ',"place_score":' .. digits(score) .. '}')
  redis.call('ZADD', window_ends, digits(ends_at), user)
  redis.call('HSET', used, user, digits(score))
end
tell_moves('gone', taken_out)

local pairs_of_used = {}
local function write_used()
  if #pairs_of_used > 0 then redis.call('HSET', used, unpack(pairs_of_used)) end
  pairs_of_used = {}
end
for _, entry in ipairs(sent.used or {}) do
  pairs_of_used[#pairs_of_used + 1] = entry[1]
  pairs_of_used[#pairs_of_used + 1] = digits(entry[2])
  if #pairs_of_used >= 2 * HSET_CHUNK then write_used() end
end
write_used()

if not is_last then
  redis.call('SET', restored, this_restore .. (part + 1), 'EX', 10)
  return 'done'
end
redis.call('SET', restored, digits(sent_generation))
if redis.call('EXISTS', meta) == 1 then
  -- A new epoch makes the pods read all positions again.
  redis.call('HSET', meta, 'epoch', digits(now_us))
  count_line()
  tell_queue_changed()
else
  publish_queue_changed()
end
return 'done'
