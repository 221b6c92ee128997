-- part-fans: the last connection of these fans to the pod that calls has closed.
--
-- Guarantee: unless a newer connection is known, each counts as away after a short grace (a phone that changes networks is
-- back by then), or presence_ms after the last join or poll if that is later. Pods that still hold a connection of one of them
-- are told and say so (keep-place). Nobody loses a place by this. Safe to repeat.
--
-- KEYS  the 16 keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 pod: what its websocket ids begin with  5 grace_ms  6… user_ids
-- Returns how many count as away.
local pod, grace_ms = ARGV[4], tonumber(ARGV[5])
local parted = {}
for i = 6, #ARGV do
  local user = ARGV[i]
  local text = redis.call('ZSCORE', line, user) and redis.call('GET', session_key(user))
  local session = text and cjson.decode(text)
  if session and type(session.websocket_id) == 'string' and string.sub(session.websocket_id, 1, #pod) == pod then
    session.websocket_id = cjson.null
    redis.call('SET', session_key(user), cjson.encode(session), 'KEEPTTL')
    redis.call('ZADD', seen, 'XX', digits(now_ms), user)
    redis.call('ZADD', gone, digits(math.max(now_ms + grace_ms, (session.polled_at or 0) + presence_ms)), user)
    parted[#parted + 1] = user
  end
end
if #parted > 0 then
  redis.call('PUBLISH', 'queue_pods', cjson.encode({ match_id = match_id, kind = 'parted', user_ids = parted }))
end
return #parted
