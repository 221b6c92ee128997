-- The device list of a fan: `devices` in the session has the websocket ids of the fan's connections to all pods, oldest first, at
-- most five. An id starts with the id of its pod. Each pod sends a heartbeat every second (beat-pod.lua).
--
-- The list may be wrong in two ways, and each is repaired:
--   An id too many, because a killed pod removes nothing: when the list is full, ids of pods without a heartbeat for POD_LIFE_MS do not
--   count. If a stream is still refused, a publication makes each pod remove those of its listed connections that do not exist.
--   An id too few, because a failover lost it or a running pod was silent for too long: pods report all connections of a fan from time
--   to time (keep-entry.lua), and missing ones are added as the oldest.
-- An id that is removed because the list is full stays in the set `replaced` until its pod reports that the connection is closed. The
-- pod learns of it from a publication, or from the reply to its next heartbeat.
local MAX_DEVICES, POD_LIFE_MS = 5, 5000

local function pod_of(id) return string.match(id, '^.-%-') or id end

-- Records a heartbeat of a pod. The key expires a minute after the last heartbeat of any pod.
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

-- The device ids whose pods have sent a heartbeat within POD_LIFE_MS.
local function of_living_pods(devices)
  local living = {}
  for _, id in ipairs(devices) do
    if tonumber(redis.call('ZSCORE', pod_beats, pod_of(id)) or 0) + POD_LIFE_MS > now_ms then living[#living + 1] = id end
  end
  return living
end

-- Writes the device list into the session. An empty list is left out, because an empty Lua table would become {} in JSON.
local function set_devices(session, devices)
  session.devices = #devices > 0 and devices or nil
  session.websocket_id = devices[#devices] or cjson.null
end

local function tell_pods_of_devices(user, kind, devices)
  redis.call('PUBLISH', 'queue_pods',
    cjson.encode({ match_id = match_id, kind = kind, user_id = user, device_ids = devices }))
end

-- Stores the newest five devices in the session. Older devices are added to the set `replaced`, whose pods must close them.
local function keep_newest(user, session, devices)
  if #devices > MAX_DEVICES then devices = of_living_pods(devices) end
  local removed = {}
  while #devices > MAX_DEVICES do
    local id = table.remove(devices, 1)
    removed[#removed + 1] = id
    redis.call('SADD', replaced, user .. ' ' .. id)
  end
  if #removed > 0 then
    redis.call('PEXPIRE', replaced, 60000)
    tell_pods_of_devices(user, 'replaced', removed)
  end
  set_devices(session, devices)
end

-- Adds a new connection. Returns false when the list is full and `may_replace` is false; a publication then makes the pods check that
-- the listed connections exist.
local function add_device(user, session, id, may_replace)
  local devices = session.devices or {}
  if index_on_list(devices, id) then return true end
  if not may_replace and #devices >= MAX_DEVICES then
    devices = of_living_pods(devices)
    if #devices >= MAX_DEVICES then
      tell_pods_of_devices(user, 'counted', devices)
      return false
    end
  end
  devices[#devices + 1] = id
  keep_newest(user, session, devices)
  return true
end
