-- beat-pod: the pod that calls lives, holds connections to this match, and has closed those it was told of.
--
-- Guarantee: what a newer connection has replaced is told to its pod with every beat until the pod says that it is closed, so
-- no fan keeps a sixth one because a hint was lost. A pod that says goodbye is not counted with from then on. Safe to repeat.
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 pod: what its websocket ids begin with  5 '1', or '' to say goodbye
--       6… "user_id websocket_id" of replaced connections that are closed
-- Returns those of this pod that are still to be closed.
-- A call takes only so many arguments; the next beat hears of the others.
local MOST_AT_ONCE = 1000
local pod, stays = ARGV[4], ARGV[5] == '1'
if not stays then
  redis.call('ZREM', pod_beats, pod)
  return {}
end
note_beat(pod)
redis.call('ZREMRANGEBYSCORE', pod_beats, '-inf', digits(now_ms - POD_LIFE_MS))
if #ARGV > 5 then redis.call('SREM', replaced, unpack(ARGV, 6)) end
local mine = {}
for _, entry in ipairs(redis.call('SMEMBERS', replaced)) do
  if #mine == MOST_AT_ONCE then break end
  if pod_of(string.match(entry, ' (.*)$')) == pod then mine[#mine + 1] = entry end
end
return mine
