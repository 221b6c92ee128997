-- beat-pod: the heartbeat of a pod that holds connections of fans of this match. The pod reports here which of its connections,
-- replaced by newer connections of the same fan, it has closed.
--
-- Guarantee: every heartbeat returns the replaced connections of the pod until the pod reports them as closed. So no fan keeps a
-- sixth connection because a published hint was lost. The connections of a removed pod no longer count. Safe to repeat.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 pod: the prefix of its websocket ids  5 '1', or '' to remove the pod
--       6… "user_id websocket_id" of replaced connections that are closed
-- Returns the replaced connections that this pod must still close, as "user_id websocket_id".
-- At most MAX_RETURNED connections are returned, because the pod sends them back as arguments. The next heartbeats return further
-- ones.
local MAX_RETURNED = 1000
local pod, is_running = ARGV[4], ARGV[5] == '1'
if not is_running then
  redis.call('ZREM', pod_beats, pod)
  return {}
end
note_beat(pod)
redis.call('ZREMRANGEBYSCORE', pod_beats, '-inf', digits(now_ms - POD_LIFE_MS))
if #ARGV > 5 then redis.call('SREM', replaced, unpack(ARGV, 6)) end
local own = {}
for _, entry in ipairs(redis.call('SMEMBERS', replaced)) do
  if #own == MAX_RETURNED then break end
  if pod_of(string.match(entry, ' (.*)$')) == pod then own[#own + 1] = entry end
end
return own
