-- control-queue: creates a match's queue or changes its settings. Omitted fields keep their value.
--
-- Guarantee: the change applies to the next script of any pod, and a publication makes pods read the queue again. Closing ends
-- every queue entry and window at once (parts/closing.lua). A repeated change has no effect. Settings are stored even while Redis
-- does not know the state of the match (parts/match-state.lua), but fans are served only after restore-queue has stored that
-- state. O(1).
--
-- KEYS  the keys of the match, in the order of parts/match-keys.lua
-- ARGV  1 match_id  2 persistence_s  3 presence_ms  4 JSON of the settings, see parts/settings.lua
-- Returns { outcome, is_known }: outcome 'done', or 'draining': nothing was changed, run drain-closed first, then call again;
-- is_known 1 if the state of the match is known, 0 if the monolith has to send it.
local function settings_now()
  if redis.call('EXISTS', meta) == 0 then return '' end
  return table.concat({ stored_status(), redis.call('HGET', meta, 'closed_reason') or '', redis.call('HGET', meta, 'reason') or '',
    redis.call('HGET', meta, 'opens_at') or '', redis.call('HGET', meta, 'processing_rate'),
    redis.call('HGET', meta, 'max_open_windows') }, '|')
end

local settings_before = settings_now()
local outcome = change_settings(cjson.decode(ARGV[4]))
if outcome == 'done' then note_action(ARGV[4], settings_before ~= settings_now()) end
return { outcome, generation and 1 or 0 }
