-- Part of every script: the names of the keys of one match. All have the hash tag {match_id}, so they are in one cluster slot. The
-- keys of single fans are computed here instead of being passed in KEYS, because most scripts find the fans only while they run.
local line, meta, windows, window_ends, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local closing_line, closing_windows, closing_window_ends = KEYS[6], KEYS[7], KEYS[8]
local seen, gone, away, back, called, used = KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14]
local moves, audit, pod_beats, replaced, restored, joins_by_address = KEYS[15], KEYS[16], KEYS[17], KEYS[18], KEYS[19], KEYS[20]
local match_id, persistence_s, presence_ms = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local function session_key(user) return 'queue_session:' .. user .. ':{' .. match_id .. '}' end
local function ended_key(user) return 'queue_ended:' .. user .. ':{' .. match_id .. '}' end
local function token_key(token) return 'queue_token:' .. token .. ':{' .. match_id .. '}' end

-- All scripts use Redis' clock. Microseconds since 1970 (about 1.8e15) are exact in a double.
local time = redis.call('TIME')
local now_us = tonumber(time[1]) * 1000000 + tonumber(time[2])
local now_ms = math.floor(now_us / 1000)

-- Formats an integer with all digits. Lua's default format would print 1.7e+15.
local function digits(number) return string.format('%.0f', number) end
local now_ms_text = digits(now_ms)
