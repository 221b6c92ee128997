-- Closes a queue of any length in O(1): the key of the line (and, for the reason `closed`, of the windows) is renamed, which ends all
-- queue entries at once. drain-closed.lua then writes the final state of each fan in batches. Until then requests of these fans are
-- answered from the renamed keys.

-- Closes the queue. reason: sold_out (open windows stay) | closed (open windows end). Returns 'draining' if fans of an earlier closed
-- line have no final state yet: run drain-closed, then call again. Returns 'closed' when the queue is closed, even if it was before.
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
  -- `line_from` makes receipts of this line unusable in the next line. The new epoch makes the positions that pods hold void.
  redis.call('HSET', meta, 'status', 'closed', 'closed_reason', reason, 'closing_reason', reason, 'total_size', 0,
    'line_from', digits(now_us), 'epoch', digits(now_us))
  tell_queue_changed()
  return 'closed'
end

local function is_draining() return redis.call('EXISTS', closing_line, closing_window_ends) > 0 end

-- Writes the final state of one fan whose line or window was closed. Does nothing for any other fan.
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

-- Adds an action of an operator to the audit stream: the request, and the status of the queue after it. A repeated action is not
-- recorded, and neither are the monolith's regular updates of useful_windows (how many windows may still find a seat).
local function note_action(request, has_changed)
  if not has_changed then return end
  redis.call('XADD', audit, 'MAXLEN', '~', 10000, '*', 'at', rfc3339(now_ms), 'request', request, 'status', stored_status())
end
