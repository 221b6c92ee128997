-- Closing a queue of any length at once: the line (and, at a full close, the windows) is renamed away in O(1), which ends
-- everybody's place in this instant. drain-closed.lua then writes each fan's last word in batches, and whoever asks
-- before that is answered from the renamed keys.

-- reason: sold_out (windows go on) | closed (windows end). 'draining' = the line closed before this one is not yet drained:
-- drain first, call again. 'closed' = done, also when it was so already.
local function close_queue(reason)
  local now = redis.call('HMGET', meta, 'status', 'closed_reason')
  if now[1] == 'closed' and (now[2] == 'closed' or now[2] == reason) then return 'closed' end
  local line_to_end = redis.call('EXISTS', line) == 1
  local windows_to_end = reason == 'closed' and redis.call('EXISTS', window_ends) == 1
  if line_to_end and redis.call('EXISTS', closing_line) == 1 then return 'draining' end
  if windows_to_end and redis.call('EXISTS', closing_window_ends) == 1 then return 'draining' end
  if line_to_end then redis.call('RENAME', line, closing_line) end
  redis.call('UNLINK', seen, gone, away, back, called, used)
  redis.call('HDEL', meta, 'passed_score', 'swept_score')
  if windows_to_end then
    redis.call('RENAME', windows, closing_windows)
    redis.call('RENAME', window_ends, closing_window_ends)
  end
  -- Receipts of this line are worth nothing in the next, and what pods know of it is void.
  redis.call('HSET', meta, 'status', 'closed', 'closed_reason', reason, 'closing_reason', reason, 'total_size', 0,
    'line_from', digits(now_us), 'epoch', digits(now_us))
  tell_queue_changed()
  return 'closed'
end

local function is_draining() return redis.call('EXISTS', closing_line, closing_window_ends) > 0 end

-- The last word for one fan of a closed line or window; nothing when there is none.
local function finish_closing(user)
  if redis.call('ZREM', closing_line, user) == 1 then
    end_entry(user, redis.call('HGET', meta, 'closing_reason'))
  end
  local text = redis.call('HGET', closing_windows, user)
  if text then
    redis.call('HDEL', closing_windows, user)
    redis.call('ZREM', closing_window_ends, user)
    announce_window_end(user, cjson.decode(text), 'closed')
    end_entry(user, 'closed')
  end
end

-- The trail of what operators did: the request as it came, and what the queue was afterwards. Repetitions and the monolith's
-- regular word on useful windows change nothing an operator decides, and are left out.
local function note_action(request, has_changed)
  if not has_changed then return end
  redis.call('XADD', audit, 'MAXLEN', '~', 10000, '*', 'at', rfc3339(now_ms), 'request', request, 'status', stored_status())
end
