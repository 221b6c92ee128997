-- part-fans: these connections of fans have closed.
--
-- Guarantee: none counts any more among the fan's five. A fan in line who has no other, on whatever pod, counts as away after a
-- short grace (a phone that changes networks is back by then), or presence_ms after the last join or poll if that is later.
-- Pods that still hold a connection of one of them are told and say so (keep-place). Nobody loses a place by this. Safe to repeat.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 grace_ms  then two for each: user_id, websocket_id
-- Returns how many count as away.
local grace_ms = tonumber(ARGV[4])
local parted = {}
for i = 5, #ARGV, 2 do
  local user, id = ARGV[i], ARGV[i + 1]
  local text = redis.call('GET', session_key(user))
  local session = text and cjson.decode(text)
  local at = session and index_on_list(session.devices or {}, id)
  if at then
    table.remove(session.devices, at)
    set_devices(session, session.devices)
    redis.call('SET', session_key(user), cjson.encode(session), 'KEEPTTL')
  end
  -- What is left may be of pods that are no more.
  local others = session and of_living_pods(session.devices or {})
  local score = session and #others == 0 and redis.call('ZSCORE', line, user)
  if score then
    local polled_at = session.polled_at or joined_at_ms(score)
    redis.call('ZADD', seen, now_ms_text, user)
    redis.call('ZADD', gone, digits(math.max(now_ms + grace_ms, polled_at + presence_ms)), user)
    parted[#parted + 1] = user
  end
end
if #parted > 0 then
  redis.call('PUBLISH', 'queue_pods', cjson.encode({ match_id = match_id, kind = 'parted', user_ids = parted }))
end
return #parted
