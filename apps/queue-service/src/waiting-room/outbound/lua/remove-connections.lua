-- remove-connections: removes closed connections from the device lists of their fans.
--
-- Guarantee: removed connections no longer count towards the limit of five. A waiting fan without another connection to any pod
-- counts as away after grace_ms (a phone that changes networks reconnects in this time), or presence_ms after the last join or
-- poll if that is later. A publication names these fans; a pod that still has a connection of such a fan reports it (keep-entry).
-- Fans keep their queue entries. Safe to repeat.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 grace_ms  then two for each: user_id, websocket_id
-- Returns the number of waiting fans left without a connection.
local grace_ms = tonumber(ARGV[4])
local away_users = {}
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
  -- Remaining connections of pods without a heartbeat do not count.
  local others = session and of_living_pods(session.devices or {})
  local score = session and #others == 0 and redis.call('ZSCORE', line, user)
  if score then
    local polled_at = session.polled_at or joined_at_ms(score)
    redis.call('ZADD', seen, now_ms_text, user)
    redis.call('ZADD', gone, digits(math.max(now_ms + grace_ms, polled_at + presence_ms)), user)
    away_users[#away_users + 1] = user
  end
end
if #away_users > 0 then
  redis.call('PUBLISH', 'queue_pods', cjson.encode({ match_id = match_id, kind = 'parted', user_ids = away_users }))
end
return #away_users
