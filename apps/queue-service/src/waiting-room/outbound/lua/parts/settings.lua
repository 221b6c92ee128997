-- The settings of a queue that the monolith controls: status, rate and limits.

local function create_queue()
  redis.call('HSET', meta, 'status', 'scheduled', 'processing_rate', 600, 'max_open_windows', 1000, 'total_size', 0,
    'created_at', rfc3339(now_ms), 'revision', 0, 'granted', 0, 'completed', 0, 'expired', 0, 'epoch', digits(now_us), 'moves', 0,
    'joins', 0)
  redis.call('UNLINK', moves)
end

local function set_or_clear(field, value)
  if value == nil then return end
  if value == cjson.null then
    redis.call('HDEL', meta, field)
  else
    redis.call('HSET', meta, field, type(value) == 'number' and digits(value) or value)
  end
end

-- Changes settings. wanted: status?, closed_reason?, opens_at_ms?, processing_rate?, max_open_windows?, useful_windows?, reason?.
-- Omitted fields keep their value; null clears a value. A sale that opens starts with a full token bucket. After a change of the
-- rate the bucket keeps its tokens, up to the new capacity.
-- Returns 'done', or 'draining': nothing was changed, run drain-closed first, then call again.
local function change_settings(wanted)
  if redis.call('EXISTS', meta) == 0 then create_queue() end
  local status = stored_status()
  if wanted.status == 'closed' and close_queue(wanted.closed_reason or 'closed') == 'draining' then return 'draining' end
  if wanted.processing_rate and wanted.processing_rate ~= tonumber(redis.call('HGET', meta, 'processing_rate')) then
    local tokens = tokens_now(tonumber(redis.call('HGET', meta, 'processing_rate')))
    redis.call('HSET', meta, 'processing_rate', digits(wanted.processing_rate))
    keep_tokens(math.min(tokens, capacity_of(wanted.processing_rate)))
  end
  if wanted.max_open_windows then redis.call('HSET', meta, 'max_open_windows', digits(wanted.max_open_windows)) end
  local reason_before = redis.call('HGET', meta, 'reason')
  set_or_clear('opens_at', wanted.opens_at_ms)
  set_or_clear('useful_windows', wanted.useful_windows)
  set_or_clear('reason', wanted.reason)
  if wanted.status and wanted.status ~= 'closed' and wanted.status ~= status then
    if (status == 'scheduled' or status == 'closed') and wanted.status ~= 'scheduled' then
      keep_tokens(capacity_of(tonumber(redis.call('HGET', meta, 'processing_rate'))))
      note_opening()
    end
    redis.call('HSET', meta, 'status', wanted.status)
    redis.call('HDEL', meta, 'closed_reason')
    if status == 'closed' then redis.call('HDEL', meta, 'remaining_sectors') end
  end
  -- Fans get a message at once for a new status or reason, but not for rates and limits, which change often.
  if stored_status() ~= status or redis.call('HGET', meta, 'reason') ~= reason_before then tell_queue_changed() end
  return 'done'
end
