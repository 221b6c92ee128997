-- The connections of a fan over all pods: `devices` in the session, their websocket ids, oldest first, five at most. An id
-- begins with its pod's, which says every second that it lives (beat-pod.lua).
--
-- The list may be wrong in two ways, and both heal. An id too many: a pod that was killed takes nothing off; where there is no
-- room, ids of pods silent for POD_LIFE_MS do not count, and a stream that is refused all the same has the pods look whether
-- they still have what the list says. An id too few (a failover has lost it, a pod alive was silent for so long): its pod
-- names all it has now and then (keep-entry.lua), and what is missing counts as the oldest. Whoever is pushed off the list
-- stands in `replaced` until its pod, told at once or by its next beat, says that it is closed.
local MOST_DEVICES, POD_LIFE_MS = 5, 5000

local function pod_of(id) return string.match(id, '^.-%-') or id end

-- A minute after the last pod has gone nothing is left of it.
local function note_beat(pod)
  redis.call('ZADD', pod_beats, now_ms_text, pod)
  redis.call('PEXPIRE', pod_beats, 60000)
end

local function index_on_list(devices, id)
  for at, other in ipairs(devices) do
    if other == id then return at end
  end
  return nil
end

local function of_living_pods(devices)
  local living = {}
  for _, id in ipairs(devices) do
    if tonumber(redis.call('ZSCORE', pod_beats, pod_of(id)) or 0) + POD_LIFE_MS > now_ms then living[#living + 1] = id end
  end
  return living
end

-- An empty Lua table would become {} in JSON.
local function set_devices(session, devices)
  session.devices = #devices > 0 and devices or nil
  session.websocket_id = devices[#devices] or cjson.null
end

local function tell_pods_of_devices(user, kind, devices)
  redis.call('PUBLISH', 'queue_pods',
    cjson.encode({ match_id = match_id, kind = kind, user_id = user, device_ids = devices }))
end

-- The newest five stay.
local function keep_newest(user, session, devices)
  if #devices > MOST_DEVICES then devices = of_living_pods(devices) end
  local pushed_off = {}
  while #devices > MOST_DEVICES do
    local id = table.remove(devices, 1)
    pushed_off[#pushed_off + 1] = id
    redis.call('SADD', replaced, user .. ' ' .. id)
  end
  if #pushed_off > 0 then
    redis.call('PEXPIRE', replaced, 60000)
    tell_pods_of_devices(user, 'replaced', pushed_off)
  end
  set_devices(session, devices)
end

-- A connection has come. False where there is no room and it may not push anybody off: then the pods look after their own.
local function add_device(user, session, id, may_replace)
  local devices = session.devices or {}
  if index_on_list(devices, id) then return true end
  if not may_replace and #devices >= MOST_DEVICES then
    devices = of_living_pods(devices)
    if #devices >= MOST_DEVICES then
      tell_pods_of_devices(user, 'counted', devices)
      return false
    end
  end
  devices[#devices + 1] = id
  keep_newest(user, session, devices)
  return true
end
